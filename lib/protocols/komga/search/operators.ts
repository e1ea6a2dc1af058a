// Operators of Komga's search conditions by family, as conditions of the list engine. Operators outside the family
// throw Invalid with the path of the node.
import { Invalid } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import type { Test } from '../../../list/condition.ts'
import { parseDate } from '../../../list/condition-values.ts'
import { maxValueLength } from '../../../list/fields.ts'
import { complement, nothing, type Part, predicate } from './condition-tree.ts'

export type Operation = { operator: string; operands: Record<string, unknown>; path: string }

/** Reads `is` and `isNot`: `test` creates the condition for a value, null if it does not restrict. */
export function equality(operation: Operation, test: (value: unknown, path: string) => Part): Part {
  checkOperator(operation, ['is', 'isNot'])
  const condition = test(operation.operands.value, `${operation.path}.value`)
  return condition && operation.operator === 'isNot' ? complement(condition) : condition
}

/** Like `equality`, with `isNull` and `isNotNull` on a field. */
export function nullableEquality(operation: Operation, field: string): Part {
  return (
    nullTest(operation, field) ??
    equality(withMore(operation, nulls), (value, path) => predicate(field, equals(value, path)))
  )
}

/** Text that is never null: an empty text stands for an unknown value. */
export function textEquality(operation: Operation, field: string): Part {
  return equality(operation, (value, path) => {
    const test = equals(value, path)
    const isEmpty = test.kind === 'text' && test.value === ''
    return predicate(field, isEmpty ? { kind: 'null' } : test)
  })
}

const equals = (value: unknown, path: string): Test => ({
  ...{ kind: 'text', operator: 'equals' },
  value: textValue(value, path),
})

const stringOperators = {
  is: ['equals', false],
  isNot: ['equals', true],
  contains: ['contains', false],
  doesNotContain: ['contains', true],
  beginsWith: ['beginsWith', false],
  doesNotBeginWith: ['beginsWith', true],
  endsWith: ['endsWith', false],
  doesNotEndWith: ['endsWith', true],
} as const

export function stringTest(operation: Operation, field: string): Part {
  checkOperator(operation, Object.keys(stringOperators))
  const [operator, negated] = stringOperators[operation.operator as keyof typeof stringOperators]
  const value = textValue(operation.operands.value, `${operation.path}.value`)
  return predicate(field, { kind: 'text', operator, value }, negated)
}

const comparisons = { is: '=', isNot: '=', greaterThan: '>=', lessThan: '<=' } as const

/** `greaterThan` and `lessThan` include the bound. */
export function numericTest(
  operation: Operation,
  field: string,
  { isNullable = false, isInteger = false } = {},
): Part {
  const isNull = isNullable ? nullTest(operation, field) : null
  if (isNull) return isNull
  checkOperator(operation, [...Object.keys(comparisons), ...(isNullable ? nulls : [])])
  const value = numberValue(operation.operands.value, `${operation.path}.value`)
  if (isInteger && !Number.isInteger(value))
    throw new Invalid(`${operation.path}.value must be an integer`)
  const operator = comparisons[operation.operator as keyof typeof comparisons]
  return predicate(field, { kind: 'compare', operator, value }, operation.operator === 'isNot')
}

const dateOperators = ['before', 'after', 'isInTheLast', 'isNotInTheLast']
const dayMs = 86_400_000

/** Whole days in UTC: the day of the given time is neither before nor after it. */
export function dateTest(operation: Operation, field: string, now: Date): Part {
  const isNull = nullTest(operation, field)
  if (isNull) return isNull
  checkOperator(operation, [...dateOperators, ...nulls])
  const { operator, operands, path } = operation
  const isRelative = operator.endsWith('Last')
  const moment = isRelative
    ? now.getTime() - durationDays(operands.duration, `${path}.duration`) * dayMs
    : parseDate(withoutZoneName(operands.dateTime), `${path}.dateTime`).getTime()
  const value = new Date(Math.floor(moment / dayMs) * dayMs)
  const sign = operator === 'after' || operator === 'isInTheLast' ? '>' : '<'
  return predicate(field, { kind: 'compare', operator: sign, value })
}

/** `…Z[UTC]`: the offset is the same without the zone name. */
const withoutZoneName = (value: unknown) =>
  typeof value === 'string' ? value.replace(/\[[\w/+-]{1,40}\]$/, '') : value

const duration =
  /^P(?=.)(?:(\d{1,5})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:\d{1,9}M)?(?:\d{1,9}(?:\.\d{1,9})?S)?)?$/i
// Back to 0001-01-01; more days exceed the range of dates.
const maxDays = 700_000

/** Whole days of an ISO 8601 duration; a year has 365 days, a month 30. */
function durationDays(value: unknown, path: string): number {
  const parts = typeof value === 'string' ? duration.exec(value) : null
  if (!parts) throw new Invalid(`${path} must be an ISO 8601 duration such as P30D`)
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0] = parts
    .slice(1)
    .map(part => Number(part ?? 0))
  return Math.min(years * 365 + months * 30 + weeks * 7 + days + Math.floor(hours / 24), maxDays)
}

/** `of` creates the condition for true or false. */
export function booleanTest(operation: Operation, of: (isTrue: boolean) => Part): Part {
  checkOperator(operation, ['isTrue', 'isFalse'])
  return of(operation.operator === 'isTrue')
}

export function flagTest(operation: Operation, field: string): Part {
  return booleanTest(operation, value => predicate(field, { kind: 'boolean', value }))
}

/** Ids may be any text; an id that no row can have matches nothing. */
export function idTest(operation: Operation, field: string): Part {
  return equality(operation, (value, path) => idCondition(field, textValue(value, path)))
}

export const idCondition = (field: string, id: string) =>
  isUuid(id) ? predicate(field, { kind: 'ids', ids: [id.toLowerCase()] }) : nothing

/** The name of an enumeration value, in any case. */
export function enumValue<T extends string>(value: unknown, names: readonly T[], path: string): T {
  const name = names.find(name => typeof value === 'string' && name === value.toUpperCase())
  if (name === undefined) throw new Invalid(`${path} is not one of ${names.join(', ')}`)
  return name
}

export function textValue(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Invalid(`${path} must be a string`)
  if (value.length > maxValueLength)
    throw new Invalid(`${path} is longer than ${maxValueLength} characters`)
  if (value.includes('\0')) throw new Invalid(`${path} must not contain a null character`)
  return value.toWellFormed()
}

function numberValue(value: unknown, path: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number))
    throw new Invalid(`${path} must be a number`)
  return number
}

const nulls = ['isNull', 'isNotNull']

function nullTest({ operator }: Operation, field: string): Part {
  return nulls.includes(operator)
    ? predicate(field, { kind: 'null' }, operator === 'isNotNull')
    : null
}

/** Adds operators, so that the error names all of the family. */
const withMore = (operation: Operation, names: readonly string[]): Operation => {
  checkOperator(operation, ['is', 'isNot', ...names])
  return operation
}

function checkOperator({ operator, path }: Operation, names: readonly string[]) {
  if (!names.includes(operator))
    throw new Invalid(`${path}.operator is not one of ${names.join(', ')}`)
}
