// SQL that matches and ranks search rows (book_search, series_search).
import type { Fragment } from 'postgres'
import type { SearchQuery } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf } from '../../../postgres/statement.ts'

/** On a search row `t`: it contains all words of the query. */
export function matchesQuery(sql: Queryable, { patterns }: SearchQuery): Fragment {
  return allOf(
    sql,
    patterns.map(pattern => sql`t.text like ${pattern}`),
  )
}

/** Of a search row `t`, from 0 (the query is the title) to 4 (the title lacks a word). */
export function matchRank(sql: Queryable, { phrase, patterns }: SearchQuery): Fragment {
  const title = sql`split_part(t.text, ${'\n'}, 1)`
  const isInTitle = allOf(
    sql,
    patterns.map(pattern => sql`${title} like ${pattern}`),
  )
  // Most matches of a frequent word are not in the title, and the phrase can be nowhere else.
  return sql`case
    when not ${isInTitle} then 4
    when starts_with(t.text, ${` ${phrase}\n`}) then 0
    when starts_with(t.text, ${` ${phrase}`}) then 1
    when ${title} like ${`% ${phrase}%`} then 2
    else 3 end`
}
