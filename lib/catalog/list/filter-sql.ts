// What single tests of a condition are in SQL.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { searchKey } from '../../name/normalise.ts'
import type { Test } from './filter-test.ts'

export type Db = Sql | TransactionSql

/** How the text of an expression compares: `folded` already holds it as searchKey writes it. */
export type Column =
  | { folded: Fragment }
  | { text: Fragment }
  | { number: Fragment }
  | { date: Fragment }

/** True, false or null over one column; null where the column is. `ids` and `status` are none of these. */
export function columnTest(sql: Db, column: Column, test: Test): Fragment {
  const [value] = Object.values(column) as [Fragment]
  switch (test.is) {
    case 'null':
      return sql`${value} is null`
    case 'text':
      // Both sides by the database, which knows no final sigma; and an index may have the column so.
      if ('text' in column && test.how === 'equal')
        return sql`folded(${value}) = folded(${test.value}::text)`
      return textTest(sql, 'text' in column ? sql`folded(${value})` : value, test)
    case 'compare': {
      const bound = cast(sql, column, test.value)
      return sql`${value} ${operators[test.how](sql)} ${bound}`
    }
    case 'between': {
      const from = test.from === null ? sql`true` : sql`${value} >= ${cast(sql, column, test.from)}`
      const to = test.to === null ? sql`true` : sql`${value} <= ${cast(sql, column, test.to)}`
      return sql`(${value} is not null and ${from} and ${to})`
    }
    default:
      throw new Error(`a column has no test ${test.is}`)
  }
}

const operators = {
  '=': (sql: Db) => sql`=`,
  '<': (sql: Db) => sql`<`,
  '<=': (sql: Db) => sql`<=`,
  '>': (sql: Db) => sql`>`,
  '>=': (sql: Db) => sql`>=`,
}

function cast(sql: Db, column: Column, value: number | Date): Fragment {
  return 'date' in column ? sql`${value}::timestamptz` : sql`${value as number}::double precision`
}

type TextTest = Extract<Test, { is: 'text' }>

/** A test of folded text. */
export function textTest(sql: Db, folded: Fragment, { how, value }: TextTest): Fragment {
  const key = searchKey(value)
  if (how === 'equal') return sql`${folded} = ${key}`
  const literal = key.replace(/[\\%_]/g, '\\$&')
  const pattern = `${how === 'begins' ? '' : '%'}${literal}${how === 'ends' ? '' : '%'}`
  return sql`${folded} like ${pattern}`
}

/** `a and b …`, true of none. */
export function every(sql: Db, parts: Fragment[]): Fragment {
  if (parts.length === 0) return sql`true`
  return sql`(${parts.reduce((whole, part) => sql`${whole} and ${part}`)})`
}

/** `a or b …`, false of none. */
export function some(sql: Db, parts: Fragment[]): Fragment {
  if (parts.length === 0) return sql`false`
  return sql`(${parts.reduce((whole, part) => sql`${whole} or ${part}`)})`
}

/** `a, b …` of at least one. */
export function commas(sql: Db, parts: Fragment[]): Fragment {
  return parts.reduce((whole, part) => sql`${whole}, ${part}`)
}
