// Lists of books as one statement: the ids of a page and the number of all. Every list can be made so; the index in
// memory makes the same lists.
import type { Fragment, Sql } from 'postgres'
import {
  hidesBooks,
  isLimited,
  presentBook,
  type Viewer,
  visibleSeries,
} from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf, unprepared } from '../../store/postgres/statement.ts'
import type { IdPage } from '../sort.ts'
import { type BookScope, booksWhere } from './book-fields.ts'
import { type BookOrder, bookOrdering } from './book-order.ts'

export type BookList = BookScope &
  BookOrder & {
    /** The list has at most so many books. */
    maxBooks?: number | undefined
    offset: number
    limit: number
  }

/** `among`: the ids of all books of the list, where they are known. */
export async function readBooks(
  sql: Sql,
  viewer: Viewer,
  list: BookList,
  among: string[] | null = null,
): Promise<IdPage> {
  const { offset, limit, maxBooks = Number.MAX_SAFE_INTEGER } = list
  const { joins, by } = bookOrdering(sql, viewer, list)
  const isListed = among ? sql`b.id = any(${among}::uuid[])` : listedBooks(sql, viewer, list)
  const taken = Math.max(0, Math.min(limit, maxBooks - offset))
  const [row] = await unprepared(sql<IdPage[]>`
    select array(
        select b.id from book b ${joins} where ${isListed}
        order by ${by} limit ${taken} offset ${offset}) as ids,
      least(${among ? sql`${among.length}::float8` : countBooks(sql, viewer, list)}, ${maxBooks}::float8) as total`)
  return row!
}

/** On `book b`. */
function listedBooks(sql: Queryable, viewer: Viewer, list: BookScope): Fragment {
  const { filter, libraryId, seriesId, includeDeleted } = list
  return allOf(sql, [
    ...(includeDeleted ? [] : [presentBook(sql)]),
    ...visibleBooks(sql, viewer),
    ...(libraryId === undefined ? [] : [sql`b.library_id = ${libraryId}`]),
    ...(seriesId === undefined ? [] : [sql`b.series_id = ${seriesId}`]),
    ...(filter
      ? [booksWhere({ sql, viewer, includesMissing: includeDeleted }, filter.condition)]
      : []),
  ])
}

function visibleBooks(sql: Queryable, viewer: Viewer): Fragment[] {
  const { libraries, ageLimit } = viewer
  const inLibrary = libraries && sql`b.library_id = any(${libraries as string[]}::uuid[])`
  if (!isLimited(viewer)) return inLibrary ? [inLibrary] : []
  const seen = sql`b.series_id in (select s.id from series s where ${visibleSeries(sql, viewer)})`
  if (!hidesBooks(viewer)) return [seen]
  return [seen, sql`(b.age_rating is null or b.age_rating <= ${ageLimit})`]
}

/** From the counters of libraries, where nothing of them is hidden or left out. */
function countBooks(sql: Queryable, viewer: Viewer, list: BookScope): Fragment {
  const { filter, libraryId, seriesId, includeDeleted } = list
  if (filter || seriesId || includeDeleted || isLimited(viewer))
    return sql`(select count(*)::float8 from book b where ${listedBooks(sql, viewer, list)})`
  const { libraries } = viewer
  return sql`(
    select coalesce(sum(l.book_count), 0)::float8 from library l
    where ${libraryId === undefined ? sql`true` : sql`l.id = ${libraryId}`}
      and ${libraries ? sql`l.id = any(${libraries as string[]}::uuid[])` : sql`true`})`
}
