// SQL of filter operators on a single column.
import type { Fragment } from 'postgres'
import { searchKey } from '../../../name/text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf } from '../../../postgres/statement.ts'
import type { Test } from '../condition.ts'

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

/** True, false, or null where the column is null. Tests of kind `ids`, `status`, `boolean`, `credit` and `poster` have no column. */
export function columnTest(sql: Queryable, column: Column, test: Test): Fragment {
  const [value] = Object.values(column) as [Fragment]
  switch (test.kind) {
    case 'null':
      return sql`${value} is null`
    case 'text':
      // Both sides are folded by the database, which has no final sigma; an index may store it so.
      if (test.operator === 'equals' && !('folded' in column))
        return sql`${'text' in column ? sql`folded(${value})` : value} = folded(${test.value}::text)`
      return textTest(sql, 'text' in column ? sql`folded(${value})` : value, test)
    case 'words':
      return sql`${value} = any(${test.words as string[]}::text[])`
    case 'pattern':
      return sql`${'text' in column ? sql`folded(${value})` : value} ~ ${test.pattern}`
    case 'compare':
      return compare(sql, column, test)
    case 'between': {
      const { from, to } = test
      return allOf(sql, [
        sql`${value} is not null`,
        ...(from === null ? [] : [compare(sql, column, { operator: '>=', value: from })]),
        ...(to === null ? [] : [compare(sql, column, { operator: '<=', value: to })]),
      ])
    }
    default:
      throw new Error(`no column test of kind ${test.kind}`)
  }
}

const comparisons = {
  '=': (sql: Queryable) => sql`=`,
  '<': (sql: Queryable) => sql`<`,
  '<=': (sql: Queryable) => sql`<=`,
  '>': (sql: Queryable) => sql`>`,
  '>=': (sql: Queryable) => sql`>=`,
}

type Comparison = { operator: keyof typeof comparisons; value: number | Date }

/** An integer column is compared with an integer: only then an index has the rows. */
function compare(sql: Queryable, column: Column, { operator, value }: Comparison): Fragment {
  const [expression] = Object.values(column) as [Fragment]
  const sign = comparisons[operator](sql)
  if (value instanceof Date) {
    if ('date' in column) return sql`${expression} ${sign} ${value}::timestamptz`
    return compareDay(sql, column, { operator, value })
  }
  if ('number' in column) return sql`${expression} ${sign} ${value}::float8`
  if (operator === '=' && !Number.isInteger(value)) return sql`false`
  const bound = operator === '<' || operator === '>=' ? Math.ceil(value) : Math.floor(value)
  const max = Number.MAX_SAFE_INTEGER
  return sql`${expression} ${sign} ${Math.min(Math.max(bound, -max), max)}::bigint`
}

const dayMs = 86_400_000

/** As a range of whole days or years from the first that is not before a moment. */
function compareDay(
  sql: Queryable,
  column: Column,
  { operator, value }: { operator: keyof typeof comparisons; value: Date },
): Fragment {
  const [expression] = Object.values(column) as [Fragment]
  const isExclusive = operator === '>' || operator === '<='
  const day = Math.ceil(value.getTime() / dayMs)
  const first = isExclusive && day * dayMs === value.getTime() ? day + 1 : day
  const bound = firstDate(new Date(first * dayMs), 'year' in column)
  return operator === '>' || operator === '>='
    ? sql`${expression} >= ${bound}::integer`
    : sql`${expression} < ${bound}::integer`
}

/** The lowest value that is not before a day: on the first of a month or year that without day or month, too. */
function firstDate(date: Date, isYear: boolean): number {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  const isFirstOfYear = month === 1 && day === 1
  if (isYear) return isFirstOfYear ? year : year + 1
  if (isFirstOfYear) return year * 10_000
  return year * 10_000 + month * 100 + (day === 1 ? 0 : day)
}

type TextTest = Extract<Test, { kind: 'text' }>

/** A test of folded text. */
export function textTest(
  sql: Queryable,
  folded: Fragment,
  { operator, value }: TextTest,
): Fragment {
  const key = searchKey(value)
  if (operator === 'equals') return sql`${folded} = ${key}`
  return sql`${folded} like ${likePattern(key, operator)}`
}

/** A test of a column that has only these words, as the list of the words that match. */
export function wordTest(
  sql: Queryable,
  column: Column,
  words: readonly string[],
  test: TextTest,
): Fragment {
  const [expression] = Object.values(column) as [Fragment]
  return sql`${expression} = any(${matchingWords(words, test)}::text[])`
}

export function matchingWords(words: readonly string[], { operator, value }: TextTest): string[] {
  const key = searchKey(value)
  return words.filter(word => wordTests[operator](word, key))
}

const wordTests = {
  equals: (word: string, key: string) => word === key,
  contains: (word: string, key: string) => word.includes(key),
  beginsWith: (word: string, key: string) => word.startsWith(key),
  endsWith: (word: string, key: string) => word.endsWith(key),
}

/** A LIKE pattern in which the value has no wildcards. */
export function likePattern(value: string, operator: TextTest['operator']): string {
  const literal = value.replace(/[\\%_]/g, '\\$&')
  const start = operator === 'beginsWith' || operator === 'equals' ? '' : '%'
  const end = operator === 'endsWith' || operator === 'equals' ? '' : '%'
  return start + literal + end
}
