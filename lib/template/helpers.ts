// Template helpers: functions of texts, numbers and lists, and the tests of block helpers. Every text that
// they take or return is at most `maxTextLength` characters long.
import { Invalid } from '../errors.ts'

export const maxTextLength = 10_000

/** Accounts for work; throws Invalid when a template takes too much. */
export type Meter = { charge(steps: number): void }

/** Arguments of a call. */
export type Args = {
  values: readonly unknown[]
  /** Named ones: `index=0`. */
  named: Readonly<Record<string, unknown>>
  meter: Meter
}
type Helper = (args: Args) => unknown
type Predicate = (args: Args) => boolean

/** The text of a value; empty for null, and for values that are missing. */
export function textOf(value: unknown, meter: Meter): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return joined(value, ',', meter)
  const text = typeof value === 'object' ? '[object Object]' : String(value)
  meter.charge(1 + Math.min(text.length, maxTextLength) / charactersPerStep)
  return text.length > maxTextLength ? text.slice(0, maxTextLength) : text
}
const charactersPerStep = 100

function joined(list: readonly unknown[], separator: string, meter: Meter): string {
  let text = ''
  for (const [i, item] of list.entries()) {
    meter.charge(1)
    if (text.length >= maxTextLength) break
    text += (i > 0 ? separator : '') + textOf(item, meter)
  }
  return text.slice(0, maxTextLength)
}

/** As Handlebars: null, false, an empty text or list, and zero are not. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Own property of an object or list; undefined for others, for inherited and missing ones. */
export function member(value: unknown, key: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const name = typeof key === 'number' ? String(key) : key
  if (typeof name !== 'string' || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

const isMissing = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && !value.length)

/** A number, or a text of one; NaN for others. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

const first = ({ values, meter }: Args) => textOf(values[0], meter)
const second = ({ values, meter }: Args, preset: string) =>
  values[1] === undefined ? preset : textOf(values[1], meter)

function truncate(args: Args): string {
  const limit = numberOf(args.values[1] ?? 100)
  const suffix = args.values[2] === undefined ? '...' : textOf(args.values[2], args.meter)
  const characters = [...first(args)]
  if (!(limit >= 0) || characters.length <= limit) return characters.join('')
  return characters.slice(0, limit).join('') + suffix
}

function replace(args: Args): string {
  const [, from, to] = args.values.map(value => textOf(value, args.meter))
  const text = first(args)
  if (!from) return text
  // One replacement for each character would make a text of 100 MB.
  return joined(text.split(from), to ?? '', args.meter)
}

/** The part with this index from 0, or from the end if it is negative. */
function split(args: Args): unknown {
  const parts = first(args).split(second(args, ' '))
  args.meter.charge(parts.length / charactersPerStep)
  const index = numberOf(args.named.index ?? args.values[2] ?? 0)
  return Number.isInteger(index) ? parts.at(index) : undefined
}

function join(args: Args): string {
  const [list] = args.values
  return Array.isArray(list) ? joined(list, second(args, ', '), args.meter) : first(args)
}

function padStart(args: Args): string {
  const length = numberOf(args.values[1])
  const fill = args.values[2] === undefined ? '0' : textOf(args.values[2], args.meter)
  return length > 0 ? first(args).padStart(Math.min(length, maxTextLength), fill) : first(args)
}

function length({ values: [value] }: Args): number {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return [...value.slice(0, maxTextLength)].length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

/** Without a result (no numbers, division by zero) it is empty. */
function math({ values: [a, operator, b] }: Args): number | undefined {
  if (typeof operator !== 'string' || !Object.hasOwn(operations, operator))
    throw new Invalid('The helper "math" requires one of the operators + - * / %')
  const result = operations[operator]!(numberOf(a), numberOf(b))
  // 0.1 + 0.2 is 0.3.
  return Number.isFinite(result) ? Number(result.toPrecision(15)) : undefined
}

/** A lone surrogate has no form in a URL. */
const urlEncoded = (text: string) => encodeURIComponent(text.toWellFormed())

export const valueHelpers: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ['lowercase', args => first(args).toLowerCase()],
  ['uppercase', args => first(args).toUpperCase()],
  [
    'capitalize',
    args => {
      const [head = '', ...rest] = first(args)
      return head.toUpperCase() + rest.join('').toLowerCase()
    },
  ],
  ['trim', args => first(args).trim()],
  ['truncate', truncate],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['default', ({ values: [value, fallback] }) => (isMissing(value) ? fallback : value)],
  ['urlencode', args => urlEncoded(first(args))],
  ['length', length],
  ['padStart', padStart],
  ['lookup', ({ values: [value, key] }) => member(value, key)],
  ['math', math],
])

function isEqual([a, b]: readonly unknown[]): boolean {
  if (typeof a === 'number' || typeof b === 'number') return numberOf(a) === numberOf(b)
  return (a ?? null) === (b ?? null)
}

/** As a block (`{{#gt a b}}…{{else}}…{{/gt}}`) and within an expression (`{{#if (gt a b)}}`). */
export const predicates: ReadonlyMap<string, Predicate> = new Map<string, Predicate>([
  ['exists', ({ values }) => !isMissing(values[0])],
  ['ifEquals', ({ values }) => isEqual(values)],
  ['ifNotEquals', ({ values }) => !isEqual(values)],
  ['gt', ({ values: [a, b] }) => numberOf(a) > numberOf(b)],
  ['lt', ({ values: [a, b] }) => numberOf(a) < numberOf(b)],
  ['and', ({ values }) => values.every(isTruthy)],
  ['or', ({ values }) => values.some(isTruthy)],
  [
    'includes',
    args => {
      const [list] = args.values
      if (!Array.isArray(list)) return first(args).includes(second(args, ''))
      args.meter.charge(list.length)
      return list.some(item => isEqual([item, args.values[1]]))
    },
  ],
])

/** Those of Handlebars. */
export const blockHelpers: ReadonlySet<string> = new Set(['if', 'unless', 'each', 'with'])
