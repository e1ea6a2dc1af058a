// SQL of filter operators on a single column.
import type { Fragment } from 'postgres'
import { searchKey } from '../../../name/text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Test } from '../condition.ts'

/** An expression and how it compares. `folded` text is stored as searchKey writes it. */
export type Column =
  | { folded: Fragment }
  | { text: Fragment }
  | { number: Fragment }
  | { date: Fragment }

/** True, false, or null where the column is null. Tests of kind `ids`, `status` and `boolean` have no column. */
export function columnTest(sql: Queryable, column: Column, test: Test): Fragment {
  const [value] = Object.values(column) as [Fragment]
  switch (test.kind) {
    case 'null':
      return sql`${value} is null`
    case 'text':
      // Both sides are folded by the database, which has no final sigma; an index may store it so.
      if ('text' in column && test.operator === 'equals')
        return sql`folded(${value}) = folded(${test.value}::text)`
      return textTest(sql, 'text' in column ? sql`folded(${value})` : value, test)
    case 'compare': {
      const bound = boundOf(sql, column, test.value)
      return sql`${value} ${comparisons[test.operator](sql)} ${bound}`
    }
    case 'between': {
      const from =
        test.from === null ? sql`true` : sql`${value} >= ${boundOf(sql, column, test.from)}`
      const to = test.to === null ? sql`true` : sql`${value} <= ${boundOf(sql, column, test.to)}`
      return sql`(${value} is not null and ${from} and ${to})`
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

function boundOf(sql: Queryable, column: Column, value: number | Date): Fragment {
  return 'date' in column ? sql`${value}::timestamptz` : sql`${value as number}::double precision`
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

/** A LIKE pattern in which the value has no wildcards. */
export function likePattern(value: string, operator: TextTest['operator']): string {
  const literal = value.replace(/[\\%_]/g, '\\$&')
  const start = operator === 'beginsWith' || operator === 'equals' ? '' : '%'
  const end = operator === 'endsWith' || operator === 'equals' ? '' : '%'
  return start + literal + end
}
