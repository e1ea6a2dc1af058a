// How well a row of search text answers a query.
import type { Fragment, Sql } from 'postgres'
import { every } from '../list/filter-sql.ts'
import type { Query } from './search-text.ts'

/** 0 (the title itself) to 4 (not in the title), of a row `t` of search text. */
export function rankOf(sql: Sql, { line, patterns }: Query): Fragment {
  const title = sql`split_part(t.text, ${'\n'}, 1)`
  return sql`case
    when starts_with(t.text, ${` ${line}\n`}) then 0
    when starts_with(t.text, ${` ${line}`}) then 1
    when ${title} like ${`% ${line}%`} then 2
    when ${every(
      sql,
      patterns.map(pattern => sql`${title} like ${pattern}`),
    )} then 3
    else 4 end`
}
