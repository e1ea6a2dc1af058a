// Names in filter conditions: fields, operators and keys in camelCase and snake_case.
import { propertyNames } from '../base/schema.ts'
import { nullOperators, operators } from './fields.ts'

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
