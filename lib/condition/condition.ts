// Conditions on a series or book context: rules of field, operator and value, of which all or any must hold.
// Used to choose the series of a library that are matched automatically.

import { Invalid } from '../errors.ts'
import { checkStorable } from '../metadata/user-input.ts'
import { body, json, list, maybe, oneOf, type Static, text } from '../schema.ts'
import { checkPatterns, tryPattern } from '../strategy/pattern.ts'

const operators = [
  ...(['is_null', 'is_not_null', 'equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const),
  ...(['contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'in', 'not_in'] as const),
] as const
type Operator = (typeof operators)[number]

export const ConditionsInput = body(
  {
    mode: maybe(oneOf(['all', 'any'], { default: 'all' })),
    rules: list(
      body({
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
  },
  { component: 'AutoMatchConditions' },
)
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

export type Condition = (context: unknown) => boolean

/** Instructions of programs times characters of the texts, for all rules: some 50 ms. */
const maxSteps = 2_500_000

/** Compiles stored conditions for many contexts; without rules they always hold. A pattern that is not valid matches nothing. */
export function compileConditions({ mode, rules }: Conditions): Condition {
  const sizes = rules.flatMap(({ operator, value }) =>
    operator === 'matches' ? (tryPattern(String(value ?? ''))?.programSize() ?? 0) : 0,
  )
  const maxLength = Math.floor(
    maxSteps /
      Math.max(
        1,
        sizes.reduce((a, b) => a + b, 0),
      ),
  )
  const tests = rules.map(rule => compileRule(rule, maxLength))
  if (tests.length === 0) return () => true
  return mode === 'any'
    ? context => tests.some(test => test(context))
    : context => tests.every(test => test(context))
}

function compileRule(
  { field, operator, value }: Conditions['rules'][number],
  maxLength: number,
): Condition {
  const path = pathOf(field)
  const test = testOf(operator, value, maxLength)
  return context => test(fieldValue(context, path))
}

type Test = (value: unknown) => boolean

/** The value is a field: null is a missing one, too, an empty text or list. */
function testOf(operator: Operator, expected: unknown, maxLength: number): Test {
  switch (operator) {
    case 'is_null':
      return isNull
    case 'is_not_null':
      return not(isNull)
    case 'equals':
      return present(value => isEqual(value, expected))
    case 'not_equals':
      return not(present(value => isEqual(value, expected)))
    case 'contains':
      return present(contains(expected))
    case 'not_contains':
      return not(present(contains(expected)))
    case 'in':
      return present(isIn(expected))
    case 'not_in':
      return not(present(isIn(expected)))
    case 'starts_with':
      return present(ofTexts(expected, (text, part) => text.startsWith(part)))
    case 'ends_with':
      return present(ofTexts(expected, (text, part) => text.endsWith(part)))
    case 'matches':
      return present(matches(expected, maxLength))
    default:
      return present(compares(operator, expected))
  }
}

const not =
  (test: Test): Test =>
  value =>
    !test(value)

const present =
  (test: Test): Test =>
  value =>
    !isNull(value) && test(value)

function isNull(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)
  )
}

/** As JSON; a number also equals a text of it. */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' || typeof b === 'number') return numberOf(a) === numberOf(b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [Object.entries(a), Object.entries(b)]
  return (
    left.length === right.length &&
    left.every(
      ([key, value]) =>
        Object.hasOwn(b, key) && isEqual(value, (b as Record<string, unknown>)[key]),
    )
  )
}

/** A number, or a text of one; NaN for others. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

/** The text of a value; null for lists and objects. */
function textOf(value: unknown): string | null {
  return typeof value === 'object' || value === undefined ? null : String(value)
}

/** A list contains its elements, a text its parts. */
function contains(expected: unknown): Test {
  const part = textOf(expected)
  return value => {
    if (Array.isArray(value)) return value.some(item => isEqual(item, expected))
    return part !== null && (textOf(value)?.includes(part) ?? false)
  }
}

/** Of a list, any element. */
const ofElements =
  (test: Test): Test =>
  value =>
    Array.isArray(value) ? value.some(test) : test(value)

function isIn(expected: unknown): Test {
  if (!Array.isArray(expected)) return () => false
  return ofElements(value => expected.some(item => isEqual(value, item)))
}

function ofTexts(expected: unknown, test: (text: string, part: string) => boolean): Test {
  const part = textOf(expected)
  if (part === null) return () => false
  return ofElements(value => {
    const text = textOf(value)
    return text !== null && test(text, part)
  })
}

/** A longer text is read up to `maxLength`. */
function matches(expected: unknown, maxLength: number): Test {
  const pattern = tryPattern(String(expected ?? ''))
  if (!pattern) return () => false
  return value => {
    const texts = Array.isArray(value) ? value : [value]
    let rest = maxLength
    return texts.some(item => {
      const text = (textOf(item) ?? '').slice(0, Math.max(0, rest))
      rest -= text.length + 1
      return text !== '' && pattern.matcher(text).find()
    })
  }
}

function compares(operator: 'gt' | 'gte' | 'lt' | 'lte', expected: unknown): Test {
  const limit = numberOf(expected)
  switch (operator) {
    case 'gt':
      return value => numberOf(value) > limit
    case 'gte':
      return value => numberOf(value) >= limit
    case 'lt':
      return value => numberOf(value) < limit
    case 'lte':
      return value => numberOf(value) <= limit
  }
}

/** Members whose keys are data, and are not converted. */
const verbatim = new Set(['externalIds', 'customMetadata'])

/** `metadata.reading_direction` → `metadata`, `readingDirection`. */
function pathOf(field: string): string[] {
  const parts = field.split('.')
  const from = parts.findIndex(part => verbatim.has(camelCase(part)))
  return parts.map((part, i) => (from >= 0 && i > from ? part : camelCase(part)))
}

const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase())

/** `metadata.authors.name` is the list of the names; `externalIds.<source>` is the id. */
function fieldValue(context: unknown, path: readonly string[]): unknown {
  const [head, source] = path
  if (head === 'externalIds' && path.length === 2) {
    const ids = member(context, 'externalIds')
    if (source === 'count') return Object.keys((ids ?? {}) as object).length
    return member(member(ids, source!), 'id')
  }
  return path.reduce(member, context)
}

/** Own property; of a list without that property, those of its elements. */
function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, name)) return (value as Record<string, unknown>)[name]
  if (!Array.isArray(value)) return undefined
  return value
    .map(item => (Array.isArray(item) ? undefined : member(item, name)))
    .filter(not(isNull))
}
