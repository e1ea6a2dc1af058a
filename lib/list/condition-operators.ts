// Operators of filter conditions by their names in requests, and the names of fields, in camelCase and snake_case.
import { propertyNames } from '../base/schema.ts'
import { nullOperators, operators } from './fields.ts'

/** On a word such as a read status, and a text in lower case. */
export const wordComparisons = {
  contains: (word: string, text: string) => word.includes(text),
  doesNotContain: (word: string, text: string) => !word.includes(text),
  beginsWith: (word: string, text: string) => word.startsWith(text),
  endsWith: (word: string, text: string) => word.endsWith(text),
}

export const namedTextOperators = {
  is: 'equals',
  isNot: 'equals',
  contains: 'contains',
  doesNotContain: 'contains',
  beginsWith: 'beginsWith',
  endsWith: 'endsWith',
} as const

export const namedComparisons = {
  eq: '=',
  ne: '=',
  is: '=',
  isNot: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  after: '>',
  onOrAfter: '>=',
  before: '<',
  onOrBefore: '<=',
} as const

function byEveryName(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.flatMap(name => propertyNames(name, {}).map(other => [other, name])))
}

const operatorNames = byEveryName([
  ...Object.values(operators).flatMap(Object.keys),
  ...nullOperators,
])
const groupNames = byEveryName(['allOf', 'anyOf'])
const fieldNames = new WeakMap<object, ReadonlyMap<string, string>>()

/** The operator of a name; other values are returned as they are. */
export const operatorOf = (name: unknown): unknown =>
  typeof name === 'string' ? (operatorNames.get(name) ?? name) : name

/** The field, `allOf` or `anyOf` of a name; null for others. */
export function keyOf(fields: object, name: string): string | null {
  const names = fieldNames.get(fields) ?? byEveryName(Object.keys(fields))
  fieldNames.set(fields, names)
  return groupNames.get(name) ?? names.get(name) ?? null
}
