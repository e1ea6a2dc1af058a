// Predicates on books in three-valued form. Of the books of a series a predicate holds for all
// (`definite`), for none (not `possible`), or for some; only in the last case book rows are read (`exact`).
import type { Fragment } from 'postgres'
import { beyondAge, fromBooksBeyondAge, presentBook, type Viewer } from '../../../auth/viewer.ts'
import { normalizeSearchText } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf } from '../../../postgres/statement.ts'
import type { Predicate } from '../condition.ts'
import type { BookField } from '../fields.ts'
import { type Column, columnTest, likePattern } from './operators.ts'
import { labelSet, type PlanContext, seriesSet } from './series-sets.ts'

export type BookPredicate = {
  /** Ids of the series all of whose books match; null if that is not known. */
  definite: Fragment | null
  /** Ids of the series some of whose books may match; null for any. The same object as `definite`: all or none. */
  possible: Fragment | null
  /** On `book b`: true or false, never null. */
  exact: Fragment
}

type SetField = 'libraryId' | 'seriesId' | 'genre' | 'tag'
type ColumnField = Exclude<BookField, SetField | 'readStatus' | 'hasError' | 'path'>

const columns: Record<ColumnField, (sql: Queryable) => Column> = {
  title: sql => ({ folded: sql`b.search_key` }),
  titleSort: sql => ({ text: sql`coalesce(b.title_sort, b.title)` }),
  summary: sql => ({ text: sql`b.summary` }),
  bookType: sql => ({ text: sql`b.extra_metadata->>'bookType'` }),
  format: sql => ({ text: sql`b.format` }),
  pageCount: sql => ({ number: sql`b.page_count` }),
  dateAdded: sql => ({ date: sql`b.created_at` }),
}

/** The positive form of a predicate on anything but the read status. */
export function bookPredicate(context: PlanContext, predicate: Predicate): BookPredicate {
  const { sql } = context
  const { field, test } = predicate
  if (field === 'libraryId' || field === 'seriesId') {
    if (test.kind === 'null') {
      const none = sql`select x.id from series x where false`
      return { definite: none, possible: none, exact: sql`false` }
    }
    const set = seriesSet(context, predicate)
    return { definite: set, possible: set, exact: inSeriesSet(sql, set) }
  }
  if (field === 'genre' || field === 'tag') return labelPredicate(context, predicate)
  return {
    definite: null,
    possible: candidateSet(context, predicate),
    exact: sql`((${rowTest(sql, predicate)}) is true)`,
  }
}

/** Books of visible series that are hidden by an age rating of their own. */
export function beyondAgePredicate(sql: Queryable, viewer: Viewer): BookPredicate {
  return {
    definite: null,
    possible: sql`
      select distinct y.series_id ${fromBooksBeyondAge(sql, viewer)}`,
    exact: sql`((${beyondAge(sql, viewer)}) is true)`,
  }
}

// `in … is true` keeps the set a hashed subplan instead of a join, so that walked rows keep their order.
function inSeriesSet(sql: Queryable, set: Fragment): Fragment {
  return sql`((b.series_id in (${set})) is true)`
}

/** A book has the labels of its series and its own. */
function labelPredicate(context: PlanContext, predicate: Predicate): BookPredicate {
  const { sql, labels } = context
  const own = labelSet(context, predicate, 'own')
  const any = labelSet(context, predicate, 'any')
  const column = predicate.field === 'genre' ? sql`b.genres` : sql`b.tags`
  if (predicate.test.kind === 'null') {
    return {
      definite: own,
      possible: any,
      exact: sql`(${inSeriesSet(sql, own)} or ${column} <> '{}')`,
    }
  }
  const { spellings, isPartial } = labels(predicate)
  // The labels of a series were collected from its present books only.
  if (!isPartial && !context.includesMissing)
    return { definite: own, possible: own, exact: inSeriesSet(sql, own) }
  return {
    definite: own,
    possible: any,
    exact: sql`(${inSeriesSet(sql, own)} or ${column} && ${spellings}::text[])`,
  }
}

function rowTest(sql: Queryable, { field, test }: Predicate): Fragment {
  if (field === 'hasError') return sql`b.error_code is not null`
  if (field === 'path') return pathTest(sql, test)
  return columnTest(sql, columns[field as ColumnField](sql), test)
}

/** Paths are bytes, so letters beyond ASCII are compared with case. */
function pathTest(sql: Queryable, test: Predicate['test']): Fragment {
  if (test.kind !== 'text') return sql`false`
  // As encode(…, 'escape') writes them.
  const escaped = [...Buffer.from(test.value.toLowerCase())]
    .map(byte => {
      if (byte === 0x5c) return '\\\\'
      return byte < 0x80 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
    })
    .join('')
  return sql`(
    select lower(encode(
        d.path || case when d.path = '' then '' else '/' end::bytea || b.name, 'escape'))
      like ${likePattern(escaped, test.operator)}
    from directory d where d.id = b.directory_id)`
}

/** Series with a book that may match, where an index has them. Distinct, because the planner does not hash a set that it estimates as large. */
function candidateSet(
  { sql, includesMissing }: PlanContext,
  { field, test }: Predicate,
): Fragment | null {
  if (field === 'title') return titleCandidates(sql, test)
  // The other sets come from indexes on present books.
  if (includesMissing) return null
  const column = { pageCount: sql`y.page_count`, dateAdded: sql`y.created_at` }[field]
  if (field === 'hasError')
    return sql`
      select distinct y.series_id from book y
      where y.error_code is not null and ${presentBook(sql, 'y')}`
  if (!column || test.kind === 'null') return null
  const typed = field === 'pageCount' ? { number: column } : { date: column }
  return sql`
    select distinct y.series_id from book y
    where ${presentBook(sql, 'y')} and ${columnTest(sql, typed, test)}`
}

/** By the trigram index of search rows: a title that contains the value contains its words. */
function titleCandidates(sql: Queryable, test: Predicate['test']): Fragment | null {
  if (test.kind !== 'text') return null
  const words = normalizeSearchText(test.value)
    .split(' ')
    .filter(word => word.length > 2)
  if (words.length === 0) return null
  return sql`
    select distinct y.series_id from book_search y
    where ${allOf(
      sql,
      words.map(word => sql`y.text like ${`%${word}%`}`),
    )}`
}
