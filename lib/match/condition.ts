// Conditions on a series or book context: rules of field, operator and value, all or any of which must hold.
// Used to choose which series of a library are matched automatically.
import { Invalid } from '../base/errors.ts'
import {
  chargeMembers,
  chargeSearch,
  chargeText,
  createMeter,
  isSame,
  type Meter,
  numberOf,
} from '../base/meter.ts'
import { body, json, list, maybe, oneOf, type Static, strict, text } from '../base/schema.ts'
import { checkStorable } from '../media/metadata/user-input.ts'
import {
  checkPatterns,
  searchableLength,
  searchSteps,
  tryPattern,
} from '../media/strategy/pattern.ts'

const operators = [
  ...(['is_null', 'is_not_null', 'equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const),
  ...(['contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'in', 'not_in'] as const),
] as const
type Operator = (typeof operators)[number]

export const ConditionsInput = body('AutoMatchConditions', {
  mode: maybe(oneOf(['all', 'any'], { default: 'all' })),
  rules: list(
    strict({
      field: text(200, {
        pattern: '^[A-Za-z]\\w*(\\.[^.\\u0000]+)*$',
        description:
          'Path in the context, e.g. `metadata.title`, `externalIds.count`, `externalIds.<source>`, `customMetadata.a.b`.',
      }),
      operator: oneOf(operators),
      value: maybe(json()),
    }),
    { maxItems: 100 },
  ),
})
export type Conditions = Static<typeof ConditionsInput>

/** Returns the conditions to store. `name` is the field for error messages. Throws Invalid. */
export function checkConditions({ mode = 'all', rules }: Conditions, name: string): Conditions {
  checkStorable(rules)
  const patterns = [...rules.entries()].filter(([, { operator }]) => operator === 'matches')
  checkPatterns(
    patterns.map(([, { value }]) => String(value ?? '')),
    i => `${name}.rules[${patterns[i]![0]}]`,
  )
  for (const [i, { operator, value }] of rules.entries())
    if ((operator === 'in' || operator === 'not_in') && !Array.isArray(value))
      throw new Invalid(`${name}.rules[${i}]: ${operator} requires a list`)
  return { mode, rules }
}

/** Whether it holds for a context; false if it takes too many steps. */
export type Condition = (context: unknown, meter?: Meter) => boolean

/** Compiles stored conditions for many contexts; without rules they always hold. An invalid pattern matches nothing. */
export function compileConditions({ mode, rules }: Conditions): Condition {
  const tests = rules.map(compileRule)
  if (tests.length === 0) return () => true
  return (context, meter = createMeter('conditions')) => {
    try {
      return mode === 'any'
        ? tests.some(test => test(context, meter))
        : tests.every(test => test(context, meter))
    } catch (error) {
      if (error instanceof Invalid) return false
      throw error
    }
  }
}

function compileRule({ field, operator, value }: Conditions['rules'][number]): Test {
  const path = pathOf(field)
  const test = tests[operator](value)
  return (context, meter) => test(fieldValue(context, path, meter), meter)
}

type Test = (value: unknown, meter: Meter) => boolean

/** By operator, for the expected value. The tested value is a field; null counts as missing, as does an empty text or list. */
const tests: Readonly<Record<Operator, (expected: unknown) => Test>> = {
  is_null: () => isNull,
  is_not_null: () => not(isNull),
  equals: expected => present(equals(expected)),
  not_equals: expected => not(present(equals(expected))),
  contains: expected => present(contains(expected)),
  not_contains: expected => not(present(contains(expected))),
  in: expected => present(isIn(expected)),
  not_in: expected => not(present(isIn(expected))),
  starts_with: expected => present(ofTexts(expected, (text, part) => text.startsWith(part))),
  ends_with: expected => present(ofTexts(expected, (text, part) => text.endsWith(part))),
  matches: expected => present(matches(expected)),
  gt: expected => present(compares(expected, (a, b) => a > b)),
  gte: expected => present(compares(expected, (a, b) => a >= b)),
  lt: expected => present(compares(expected, (a, b) => a < b)),
  lte: expected => present(compares(expected, (a, b) => a <= b)),
}

const equals =
  (expected: unknown): Test =>
  (value, meter) =>
    isEqual(value, expected, meter)

const not =
  (test: Test): Test =>
  (value, meter) =>
    !test(value, meter)

const present =
  (test: Test): Test =>
  (value, meter) =>
    !isNull(value) && test(value, meter)

function isNull(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)
  )
}

/** Compared as JSON; a number also equals its text. */
function isEqual(a: unknown, b: unknown, meter: Meter): boolean {
  if (typeof a === 'number' || typeof b === 'number')
    return numberOf(a, meter) === numberOf(b, meter)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return isSame(a, b, meter)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [Object.entries(a), Object.keys(b)]
  chargeMembers(meter, left.length + right.length)
  return (
    left.length === right.length &&
    left.every(
      ([key, value]) =>
        Object.hasOwn(b, key) && isEqual(value, (b as Record<string, unknown>)[key], meter),
    )
  )
}

/** The text of a value; null for lists and objects. */
function textOf(value: unknown): string | null {
  return typeof value === 'object' || value === undefined ? null : String(value)
}

/** A list contains its elements, a text its substrings. */
function contains(expected: unknown): Test {
  const part = textOf(expected)
  return (value, meter) => {
    if (Array.isArray(value)) return value.some(item => isEqual(item, expected, meter))
    const text = textOf(value)
    if (part === null || text === null) return false
    chargeSearch(meter, text, part)
    return text.includes(part)
  }
}

/** Holds for a list if it holds for any element. */
const ofElements =
  (test: Test): Test =>
  (value, meter) =>
    Array.isArray(value) ? value.some(item => test(item, meter)) : test(value, meter)

function isIn(expected: unknown): Test {
  if (!Array.isArray(expected)) return () => false
  return ofElements((value, meter) => expected.some(item => isEqual(value, item, meter)))
}

function ofTexts(expected: unknown, test: (text: string, part: string) => boolean): Test {
  const part = textOf(expected)
  if (part === null) return () => false
  return ofElements((value, meter) => {
    const text = textOf(value)
    chargeText(meter, part)
    return text !== null && test(text, part)
  })
}

/** Reads only the beginning of a text that is too long for the remaining steps. */
function matches(expected: unknown): Test {
  const pattern = tryPattern(String(expected ?? ''))
  if (!pattern) return () => false
  return ofElements((value, meter) => {
    const text = (textOf(value) ?? '').slice(0, searchableLength(pattern, meter.left()))
    meter.charge(Math.min(meter.left(), 1 + searchSteps(pattern, text.length)))
    return text !== '' && pattern.matcher(text).find()
  })
}

const compares =
  (expected: unknown, compare: (a: number, b: number) => boolean): Test =>
  (value, meter) =>
    compare(numberOf(value, meter), numberOf(expected, meter))

/** Members whose keys are data, and are therefore not converted. */
const verbatim = new Set(['externalIds', 'customMetadata'])

/** `metadata.reading_direction` → `metadata`, `readingDirection`. */
function pathOf(field: string): string[] {
  const parts = field.split('.')
  const from = parts.findIndex(part => verbatim.has(camelCase(part)))
  return parts.map((part, i) => (from >= 0 && i > from ? part : camelCase(part)))
}

const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase())

/** `metadata.authors.name` gives the list of names; `externalIds.<source>` gives the id. */
function fieldValue(context: unknown, path: readonly string[], meter: Meter): unknown {
  const [head, source] = path
  if (head === 'externalIds' && path.length === 2) {
    const ids = member(context, 'externalIds', meter)
    if (source !== 'count') return member(member(ids, source!, meter), 'id', meter)
    const { length } = Object.keys((ids ?? {}) as object)
    chargeMembers(meter, length)
    return length
  }
  return path.reduce((value, name) => member(value, name, meter), context)
}

/** Own property; for a list without that property, the property of its elements. */
function member(value: unknown, name: string, meter: Meter): unknown {
  meter.charge(1)
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, name)) return (value as Record<string, unknown>)[name]
  if (!Array.isArray(value)) return undefined
  return value
    .map(item => (Array.isArray(item) ? undefined : member(item, name, meter)))
    .filter(item => !isNull(item))
}
