// Template helpers: functions of texts, numbers and lists, and the tests of block helpers. Every text they take or
// return is at most `maxTextLength` characters long.
import { Invalid } from '../../base/errors.ts'
import {
  chargeCharacters,
  chargeMembers,
  chargeSearch,
  chargeText,
  isSame,
  type Meter,
  numberOf,
} from '../../base/meter.ts'

export const maxTextLength = 10_000

/** Arguments of a call. */
export type Args = {
  values: readonly unknown[]
  /** Named arguments: `index=0`. */
  named: Readonly<Record<string, unknown>>
  meter: Meter
}
type Helper = (args: Args) => unknown
type Predicate = (args: Args) => boolean

/** The text of a value; empty for null and missing values. */
export function textOf(value: unknown, meter: Meter): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return joined(value, ',', meter)
  const text = cut(typeof value === 'object' ? '[object Object]' : String(value))
  chargeText(meter, text)
  return text
}

/** The text, cut off at the maximum length. */
export const cut = (text: string) =>
  text.length > maxTextLength ? text.slice(0, maxTextLength) : text

function joined(list: readonly unknown[], separator: string, meter: Meter): string {
  let text = ''
  for (const [i, item] of list.entries()) {
    meter.charge(1)
    if (text.length >= maxTextLength) break
    text += (i > 0 ? separator : '') + textOf(item, meter)
  }
  return cut(text)
}

/** As in Handlebars: everything except null, false, an empty text or list, and zero. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Own property of an object or list; undefined for other values, and for inherited and missing properties. */
export function member(value: unknown, key: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const name = typeof key === 'number' ? String(key) : key
  if (typeof name !== 'string' || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

const isMissing = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && !value.length)

const first = ({ values, meter }: Args) => textOf(values[0], meter)
/** The first argument, charged for reading or converting each character. */
function converted(args: Args): string {
  const text = first(args)
  chargeCharacters(args.meter, text)
  return text
}
const second = ({ values, meter }: Args, preset: string) =>
  values[1] === undefined ? preset : textOf(values[1], meter)

function truncate(args: Args): string {
  const limit = numberOf(args.values[1] ?? 100, args.meter)
  const suffix = args.values[2] === undefined ? '...' : textOf(args.values[2], args.meter)
  const characters = [...converted(args)]
  if (!(limit >= 0) || characters.length <= limit) return characters.join('')
  return characters.slice(0, limit).join('') + suffix
}

function replace(args: Args): string {
  const [, from, to] = args.values.map(value => textOf(value, args.meter))
  const text = first(args)
  if (!from) return text
  chargeSearch(args.meter, text, from)
  // One replacement per character could produce a text of 100 MB.
  return joined(text.split(from), to ?? '', args.meter)
}

/** The part with this 0-based index, counted from the end if it is negative. */
function split(args: Args): unknown {
  const [text, separator] = [first(args), second(args, ' ')]
  chargeSearch(args.meter, text, separator)
  const parts = text.split(separator)
  chargeMembers(args.meter, parts.length)
  const index = numberOf(args.named.index ?? args.values[2] ?? 0, args.meter)
  return Number.isInteger(index) ? parts.at(index) : undefined
}

function join(args: Args): string {
  const [list] = args.values
  return Array.isArray(list) ? joined(list, second(args, ', '), args.meter) : first(args)
}

function padStart(args: Args): string {
  const length = numberOf(args.values[1], args.meter)
  const fill = args.values[2] === undefined ? '0' : textOf(args.values[2], args.meter)
  return length > 0 ? first(args).padStart(Math.min(length, maxTextLength), fill) : first(args)
}

function length(args: Args): number {
  const [value] = args.values
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return [...converted(args)].length
  if (typeof value !== 'object' || value === null) return 0
  const { length: count } = Object.keys(value)
  chargeMembers(args.meter, count)
  return count
}

/** The member named by the second argument. */
function lookup({ values: [value, key], meter }: Args): unknown {
  if (typeof key === 'string') chargeText(meter, key)
  return member(value, key)
}

const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

/** Empty if there is no result (no numbers, division by zero). */
function math({ values: [a, operator, b], meter }: Args): number | undefined {
  if (typeof operator !== 'string' || !Object.hasOwn(operations, operator))
    throw new Invalid('The helper "math" requires one of the operators + - * / %')
  const result = operations[operator]!(numberOf(a, meter), numberOf(b, meter))
  // Makes 0.1 + 0.2 equal 0.3.
  return Number.isFinite(result) ? Number(result.toPrecision(15)) : undefined
}

/** A lone surrogate cannot be encoded in a URL. */
const urlEncoded = (text: string) => encodeURIComponent(text.toWellFormed())

export const valueHelpers: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ['lowercase', args => converted(args).toLowerCase()],
  ['uppercase', args => converted(args).toUpperCase()],
  [
    'capitalize',
    args => {
      const [head = '', ...rest] = converted(args)
      return head.toUpperCase() + rest.join('').toLowerCase()
    },
  ],
  ['trim', args => first(args).trim()],
  ['truncate', truncate],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['default', ({ values: [value, fallback] }) => (isMissing(value) ? fallback : value)],
  ['urlencode', args => urlEncoded(converted(args))],
  ['length', length],
  ['padStart', padStart],
  ['lookup', lookup],
  ['math', math],
])

function isEqual(a: unknown, b: unknown, meter: Meter): boolean {
  if (typeof a === 'number' || typeof b === 'number')
    return numberOf(a, meter) === numberOf(b, meter)
  return isSame(a ?? null, b ?? null, meter)
}

function includes(args: Args): boolean {
  const [list, item] = args.values
  if (Array.isArray(list)) return list.some(one => isEqual(one, item, args.meter))
  const [text, part] = [first(args), second(args, '')]
  chargeSearch(args.meter, text, part)
  return text.includes(part)
}

/** Usable as a block (`{{#gt a b}}…{{else}}…{{/gt}}`) and within an expression (`{{#if (gt a b)}}`). */
export const predicates: ReadonlyMap<string, Predicate> = new Map<string, Predicate>([
  ['exists', ({ values }) => !isMissing(values[0])],
  ['ifEquals', ({ values: [a, b], meter }) => isEqual(a, b, meter)],
  ['ifNotEquals', ({ values: [a, b], meter }) => !isEqual(a, b, meter)],
  ['gt', ({ values: [a, b], meter }) => numberOf(a, meter) > numberOf(b, meter)],
  ['lt', ({ values: [a, b], meter }) => numberOf(a, meter) < numberOf(b, meter)],
  ['and', ({ values }) => values.every(isTruthy)],
  ['or', ({ values }) => values.some(isTruthy)],
  ['includes', includes],
])

/** The block helpers of Handlebars. */
export const blockHelpers: ReadonlySet<string> = new Set(['if', 'unless', 'each', 'with'])
