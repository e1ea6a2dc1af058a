// Full-text search: rows of book_search and series_search that contain all words of a query, and their rank.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../accounts/viewer.ts'
import { ofBooks, parseSearchQuery, type SearchQuery } from '../../media/name/search-text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf } from '../../store/postgres/statement.ts'
import type { Condition, Predicate } from '../condition.ts'
import { isSeenBook } from './seen-books.ts'
import type { Context, Match } from './where.ts'

/** A search as a predicate. */
export const searchCondition = (value: string): Condition => ({
  ...{ field: 'text', negated: false },
  test: { kind: 'text', operator: 'contains', value },
})

/** On a search row `t`: it contains all words of the query. */
export function matchesQuery(sql: Queryable, { patterns }: SearchQuery): Fragment {
  return allOf(
    sql,
    patterns.map(pattern => sql`t.text like ${pattern}`),
  )
}

/** The rank of a search row `t`, from 0 (the query is the title) to 4 (the title lacks a word). */
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

const queryOf = ({ test }: Predicate) =>
  test.kind === 'text' ? parseSearchQuery(test.value) : null

export function searchedBooks({ sql, includesMissing }: Context, predicate: Predicate): Match {
  const query = queryOf(predicate)
  if (!query) return { test: sql`false` }
  const isListed = includesMissing ? sql`true` : sql`t.is_present`
  return {
    ids: sql`select t.book_id from book_search t where ${isListed} and ${matchesQuery(sql, query)}`,
  }
}

/** Without what only books have that an age limit hides. */
export function searchedSeries({ sql, viewer }: Context, predicate: Predicate): Match {
  const query = queryOf(predicate)
  if (!query) return { test: sql`false` }
  const matches = matchesQuery(sql, query)
  const found = sql`select t.series_id, t.text from series_search t where ${matches}`
  if (!hidesBooks(viewer)) return { ids: sql`select m.series_id from (${found}) m` }
  return {
    ids: sql`
      select m.series_id from (${found}) m
      where m.series_id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
        or (select ${matches} from (select split_part(m.text, ${ofBooks}, 1) as text) t)
        or exists (
          select from book y join book_search t on t.book_id = y.id
          where y.series_id = m.series_id and ${isSeenBook(sql, viewer)} and ${matches})`,
  }
}
