// Present books for which a predicate on a column holds, read from the narrowest index that has them.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, presentBook, type Viewer } from '../../../auth/viewer.ts'
import { normalizeSearchText, parseSearchQuery } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf } from '../../../postgres/statement.ts'
import type { Predicate, Test } from '../condition.ts'
import { bookColumnTest } from './book-columns.ts'
import { columnTest } from './operators.ts'
import { ownRowSource } from './own-rows.ts'
import { pathRows } from './path-rows.ts'
import { matchesQuery } from './search-match.ts'

/** Each a query of `id` and `series_id`. */
export type RowSource = {
  /** Present books for which the positive form of the predicate holds. */
  holds: Fragment
  /** The others. */
  fails: Fragment | null
  /** Testing a single book costs more than collecting it. */
  isCostly?: boolean
  /** The same as `holds`, faster if `candidates`, a query, has few rows. */
  narrowed?: { rows: Fragment; candidates: Fragment }
}

/** Null for predicates that are about series, labels or reading. */
export function rowSource(sql: Queryable, viewer: Viewer, predicate: Predicate): RowSource | null {
  const { field, test } = predicate
  const from = (where: Fragment) => sql`
    select y.id, y.series_id from book y where ${presentBook(sql, 'y')} and ${where}`
  if (field === 'hasError') return { holds: from(sql`y.error_code is not null`), fails: null }
  if (field === 'path')
    return test.kind === 'text'
      ? { ...pathRows(sql, test), isCostly: true }
      : { holds: from(sql`false`), fails: null }
  if (field === 'text') return { holds: searchRows(sql, test), fails: null, isCostly: true }
  if (field === 'summary' && test.kind === 'text')
    return { holds: summaryRows(sql, test), fails: null, isCostly: true }
  const column = bookColumnTest(sql, predicate, 'y')
  if (!column) return ownRowSource(sql, viewer, predicate)
  const source = { holds: from(column.test), fails: from(column.fails) }
  const words = field === 'title' && test.kind === 'text' ? wordsOf(test.value) : []
  if (words.length === 0) return source
  const candidates = sql`
    select t.book_id from book_search t
    where ${allOf(
      sql,
      words.map(word => sql`t.text like ${`%${word}%`}`),
    )}`
  // Looked up one by one: joined, all titles would be read.
  const rows = sql`
    select y.id, y.series_id from (${candidates} offset 0) t
    cross join lateral (
      ${from(sql`y.id = t.book_id and ${column.test}`)} offset 0) y`
  return { ...source, narrowed: { candidates, rows } }
}

function summaryRows(sql: Queryable, test: Test): Fragment {
  return sql`
    select t.book_id as id, t.series_id from book_summary t
    where t.is_present and ${columnTest(sql, { key: sql`t.key` }, test)}`
}

function searchRows(sql: Queryable, test: Test): Fragment {
  const search = test.kind === 'text' ? parseSearchQuery(test.value) : null
  return sql`
    select t.book_id as id, t.series_id from book_search t
    where t.is_present and ${search ? matchesQuery(sql, search) : sql`false`}`
}

/**
 * Words that the search row of every book contains whose title contains the value; long enough for trigrams. Only of
 * ASCII: a letter of another script may become another one with the mark that follows it in the title.
 */
function wordsOf(value: string): string[] {
  return normalizeSearchText(value)
    .split(' ')
    .filter(word => /^[a-z0-9]{3,}$/.test(word))
}

/** Books of visible series that are hidden by an age rating of their own. */
export function rowsBeyondAge(sql: Queryable, viewer: Viewer): RowSource {
  const holds = sql`select y.id, y.series_id ${fromBooksBeyondAge(sql, viewer)}`
  return { holds, fails: null, isCostly: true }
}
