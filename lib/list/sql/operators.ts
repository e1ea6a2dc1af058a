// Operators of conditions: each with its SQL and its predicate on values.
import type { Fragment } from 'postgres'
import { searchKey } from '../../media/name/text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf } from '../../store/postgres/statement.ts'
import type { Bound, Test } from '../condition.ts'

type TextOperator = {
  /** `text` is folded, `key` as searchKey writes it. */
  sql: (sql: Queryable, text: Fragment, key: string) => Fragment
  holds: (text: string, key: string) => boolean
}

export const textOperators = {
  equals: {
    sql: (sql, text, key) => sql`${text} = ${key}`,
    holds: (text, key) => text === key,
  },
  contains: {
    sql: (sql, text, key) => sql`${text} like ${`%${literal(key)}%`}`,
    holds: (text, key) => text.includes(key),
  },
  beginsWith: {
    sql: (sql, text, key) => sql`${text} like ${`${literal(key)}%`}`,
    holds: (text, key) => text.startsWith(key),
  },
  endsWith: {
    sql: (sql, text, key) => sql`${text} like ${`%${literal(key)}`}`,
    holds: (text, key) => text.endsWith(key),
  },
} as const satisfies Record<string, TextOperator>
export type TextOperatorName = keyof typeof textOperators
export type TextTest = Extract<Test, { kind: 'text' }>

/** A part of a LIKE pattern that has no wildcards. */
export const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export function textTest(sql: Queryable, folded: Fragment, { operator, value }: TextTest) {
  return textOperators[operator].sql(sql, folded, searchKey(value))
}

/** The words for which a test of text holds. */
export function matchingWords(words: readonly string[], { operator, value }: TextTest): string[] {
  const key = searchKey(value)
  return words.filter(word => textOperators[operator].holds(word, key))
}

type Comparison = {
  sql: (sql: Queryable) => Fragment
  holds: (value: number, bound: number) => boolean
}

export const comparisons = {
  '=': { sql: sql => sql`=`, holds: (value, bound) => value === bound },
  '<': { sql: sql => sql`<`, holds: (value, bound) => value < bound },
  '<=': { sql: sql => sql`<=`, holds: (value, bound) => value <= bound },
  '>': { sql: sql => sql`>`, holds: (value, bound) => value > bound },
  '>=': { sql: sql => sql`>=`, holds: (value, bound) => value >= bound },
} as const satisfies Record<string, Comparison>
type ComparisonName = keyof typeof comparisons

/**
 * An expression and how it compares. `folded` text is stored as searchKey writes it, a `key` as folded()
 * does. A `day` is yyyymmdd with 00 for an unknown month or day, and compares like a `year` as the first
 * moment of it in UTC.
 */
export type Column =
  | { folded: Fragment }
  | { key: Fragment }
  | { text: Fragment }
  | { integer: Fragment }
  | { number: Fragment }
  | { date: Fragment }
  | { day: Fragment }
  | { year: Fragment }

/** False or null where the column is null, unless the test is for that. */
export function columnTest(sql: Queryable, column: Column, test: Test): Fragment {
  const [value] = Object.values(column) as [Fragment]
  const folded = 'text' in column ? sql`folded(${value})` : value
  switch (test.kind) {
    case 'null':
      return sql`${value} is null`
    case 'text':
      // Both sides are folded by the database, which has no final sigma; an index may store it so.
      return test.operator === 'equals' && !('folded' in column)
        ? sql`${folded} = folded(${test.value}::text)`
        : textTest(sql, folded, test)
    case 'words':
      return sql`${value} = any(${test.words as string[]}::text[])`
    case 'pattern':
      return sql`${folded} ~ ${test.pattern}`
    case 'compare':
      return compare(sql, column, test.operator, test.value)
    case 'between':
      return allOf(sql, [
        sql`${value} is not null`,
        ...(test.from === null ? [] : [compare(sql, column, '>=', test.from)]),
        ...(test.to === null ? [] : [compare(sql, column, '<=', test.to)]),
      ])
    default:
      throw new Error(`A column has no test of kind ${test.kind}`)
  }
}

/** A test of rows that exist only where there is a value. */
export function valueTest(sql: Queryable, column: Column, test: Test): Fragment {
  return test.kind === 'null' || test.kind === 'boolean' ? sql`true` : columnTest(sql, column, test)
}

/** An integer column is compared with an integer: only then an index has the rows. */
function compare(sql: Queryable, column: Column, operator: ComparisonName, bound: Bound) {
  const [value] = Object.values(column) as [Fragment]
  const sign = comparisons[operator].sql(sql)
  if (bound instanceof Date) {
    if ('date' in column) return sql`${value} ${sign} ${bound}::timestamptz`
    return compareDay(sql, column, operator, bound)
  }
  if ('number' in column) return sql`${value} ${sign} ${bound}::float8`
  if (operator === '=' && !Number.isInteger(bound)) return sql`false`
  const whole = operator === '<' || operator === '>=' ? Math.ceil(bound) : Math.floor(bound)
  const max = Number.MAX_SAFE_INTEGER
  return sql`${value} ${sign} ${Math.min(Math.max(whole, -max), max)}::bigint`
}

const dayMs = 86_400_000

/** As a range of whole days or years from the first that is not before a moment. */
function compareDay(sql: Queryable, column: Column, operator: ComparisonName, moment: Date) {
  const [value] = Object.values(column) as [Fragment]
  const isExclusive = operator === '>' || operator === '<='
  const day = Math.ceil(moment.getTime() / dayMs)
  const first = isExclusive && day * dayMs === moment.getTime() ? day + 1 : day
  const bound = firstDate(new Date(first * dayMs), 'year' in column)
  return operator === '>' || operator === '>='
    ? sql`${value} >= ${bound}::integer`
    : sql`${value} < ${bound}::integer`
}

/** The lowest value that is not before a day: on the first of a month or year that without day or month, too. */
function firstDate(date: Date, isYear: boolean): number {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  const isFirstOfYear = month === 1 && day === 1
  if (isYear) return isFirstOfYear ? year : year + 1
  if (isFirstOfYear) return year * 10_000
  return year * 10_000 + month * 100 + (day === 1 ? 0 : day)
}
