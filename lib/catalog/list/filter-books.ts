// Tests of books, in three values. Of the books of a series a test holds for all (`sure`), for none
// (not `maybe`) or for some, and only for the last the rows of books are looked at (`exact`).
import type { Fragment } from 'postgres'
import { searchLine } from '../search/search-text.ts'
import type { Leaf } from './filter.ts'
import { labelSet, type SetScope, seriesSet } from './filter-series.ts'
import { type Column, columnTest, type Db, every } from './filter-sql.ts'

export type BookTest = {
  /** Ids of the series all of whose books pass; null when that cannot be told. */
  sure: Fragment | null
  /** Ids of the series some of whose books may pass; null when any may. Equal to `sure`: all or none. */
  maybe: Fragment | null
  /** On `book b`: true or false, never null. */
  exact: Fragment
}

/** The positive form of a test that is not about reading. */
export function bookTest(scope: SetScope, leaf: Leaf): BookTest {
  const { sql } = scope
  const { field, test } = leaf
  if (field === 'libraryId' || field === 'seriesId') {
    if (test.is === 'null') return { sure: nothing(sql), maybe: nothing(sql), exact: sql`false` }
    const set = seriesSet(scope, leaf)
    return { sure: set, maybe: set, exact: isIn(sql, set) }
  }
  if (field === 'genre' || field === 'tag') return labelTest(scope, leaf)
  return {
    sure: null,
    maybe: candidates(scope, leaf),
    exact: sql`((${onBook(sql, leaf)}) is true)`,
  }
}

/** On `book b`: its series is in the set. The planner leaves it a hashed set, walked rows keep their order. */
export function isIn(sql: Db, set: Fragment): Fragment {
  return sql`((b.series_id in (${set})) is true)`
}

function nothing(sql: Db): Fragment {
  return sql`select x.id from series x where false`
}

/** Of a series that is seen only books beyond the limit by a rating of their own are hidden. */
export function beyondAge(sql: Db, limit: number): BookTest {
  return {
    sure: null,
    maybe: sql`
      select distinct y.series_id from book y where y.age_rating > ${limit} and y.missing_at is null`,
    exact: sql`((b.age_rating > ${limit}) is true)`,
  }
}

/** A book has the genres of its series and those of its own. */
function labelTest(scope: SetScope, leaf: Leaf): BookTest {
  const { sql, labels } = scope
  const own = labelSet(scope, leaf, 'own')
  const any = labelSet(scope, leaf, 'any')
  const column = leaf.field === 'genre' ? sql`b.genres` : sql`b.tags`
  if (leaf.test.is === 'null') {
    return { sure: own, maybe: any, exact: sql`(${isIn(sql, own)} or ${column} <> '{}')` }
  }
  const { spellings, isPartial } = labels(leaf)
  // Missing books are not among those that the labels of a series were made of.
  if (!isPartial && !scope.includesEmpty) return { sure: own, maybe: own, exact: isIn(sql, own) }
  return {
    sure: own,
    maybe: any,
    exact: sql`(${isIn(sql, own)} or ${column} && ${spellings}::text[])`,
  }
}

function onBook(sql: Db, { field, test }: Leaf): Fragment {
  if (field === 'hasError') return sql`b.error_code is not null`
  if (field === 'path') return pathTest(sql, test)
  return columnTest(sql, columns[field]!(sql), test)
}

const columns: Record<string, (sql: Db) => Column> = {
  title: sql => ({ folded: sql`b.search_key` }),
  titleSort: sql => ({ text: sql`coalesce(b.title_sort, b.title)` }),
  summary: sql => ({ text: sql`b.summary` }),
  bookType: sql => ({ text: sql`b.more->>'bookType'` }),
  format: sql => ({ text: sql`b.format` }),
  pageCount: sql => ({ number: sql`b.page_count` }),
  dateAdded: sql => ({ date: sql`b.created_at` }),
}

/** Paths are bytes: letters beyond ASCII are compared as they are written. */
function pathTest(sql: Db, test: Leaf['test']): Fragment {
  if (test.is !== 'text') return sql`false`
  const escaped = [...Buffer.from(test.value.toLowerCase())]
    .map(byte => {
      if (byte === 0x5c) return '\\\\'
      return byte < 0x80 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
    })
    .join('')
  const literal = escaped.replace(/[\\%_]/g, '\\$&')
  const { how } = test
  const before = how === 'begins' || how === 'equal' ? '' : '%'
  const after = how === 'ends' || how === 'equal' ? '' : '%'
  return sql`(
    select lower(encode(
        d.path || case when d.path = '' then '' else '/' end::bytea || b.name, 'escape'))
      like ${before + literal + after}
    from directory d where d.id = b.directory_id)`
}

/** Series that hold a book which may pass, where an index knows them. Distinct, because a set that the planner takes for large is not hashed. */
function candidates({ sql, includesEmpty }: SetScope, { field, test }: Leaf): Fragment | null {
  // Sets made of indexes on present books know nothing of missing ones.
  if (field === 'title') return titled(sql, test)
  if (includesEmpty) return null
  const column = { pageCount: sql`y.page_count`, dateAdded: sql`y.created_at` }[field]
  if (field === 'hasError')
    return sql`
      select distinct y.series_id from book y where y.error_code is not null and y.missing_at is null`
  if (!column || test.is === 'null') return null
  const kind = field === 'pageCount' ? { number: column } : { date: column }
  return sql`
    select distinct y.series_id from book y where y.missing_at is null and ${columnTest(sql, kind, test)}`
}

/** By trigrams: a title that holds the value holds its words. */
function titled(sql: Db, test: Leaf['test']): Fragment | null {
  if (test.is !== 'text') return null
  const words = searchLine(test.value)
    .split(' ')
    .filter(word => word.length > 2)
  if (words.length === 0) return null
  return sql`
    select distinct y.series_id from book_search y
    where ${every(
      sql,
      words.map(word => sql`y.text like ${`%${word}%`}`),
    )}`
}
