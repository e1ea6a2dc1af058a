// Series that a search finds, without what only books have that an age limit hides.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../../auth/viewer.ts'
import { ofBooks, type SearchQuery } from '../../../name/search-text.ts'
import type { PlanContext } from './plan-context.ts'
import { matchesQuery } from './search-match.ts'
import { isSeenBook } from './series-of-books.ts'

/** Rows of `series_search` (series_id, text). */
export function searchedSeries(
  { sql, viewer }: Pick<PlanContext, 'sql' | 'viewer'>,
  search: SearchQuery,
): Fragment {
  const matches = matchesQuery(sql, search)
  const found = sql`select t.series_id, t.text from series_search t where ${matches}`
  if (!hidesBooks(viewer)) return found
  // `limit`: few series come that far, and an `exists` would be a hash of all books that match.
  return sql`
    select m.series_id, m.text from (${found}) m
    where m.series_id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
      or (select ${matches} from (select split_part(m.text, ${ofBooks}, 1) as text) t)
      or (
        select true from book y join book_search t on t.book_id = y.id
        where y.series_id = m.series_id and ${isSeenBook(sql, viewer)} and ${matches}
        limit 1)`
}
