// "Continue reading" lists: books and series in progress, recently read books, and the next book of
// every series ("on deck").
import type { Fragment, Sql } from 'postgres'
import {
  hidesBooks,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { unprepared } from '../../postgres/statement.ts'
import { booksWithProgress, pageWithIndex } from '../list/list-books.ts'
import { type IdPage, idsInOrder, nearestEnd } from '../list/page.ts'

export type ReadingListRequest = {
  libraryId?: string | undefined
  /** From 1. */
  page: number
  pageSize: number
}
type BookRequest = ReadingListRequest & { includeCompleted?: boolean }

/** Ids of the present books that the viewer has begun and not completed (or all begun), the last read first. */
export async function booksInProgress(
  sql: Sql,
  viewer: Viewer,
  request: BookRequest,
): Promise<IdPage> {
  const { libraryId, page, pageSize, includeCompleted } = request
  const read = () => readBooksInProgress(sql, viewer, request)
  if (!includeCompleted) return await read()
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const list = { ...booksWithProgress, ...window, libraryId, direction: 'desc' } as const
  return await pageWithIndex(sql, viewer, list, read)
}

async function readBooksInProgress(
  sql: Sql,
  viewer: Viewer,
  request: BookRequest,
): Promise<IdPage> {
  const total = await countBooks(sql, viewer, request)
  const offset = (request.page - 1) * request.pageSize
  const { skip, take, reversed } = nearestEnd({ offset, limit: request.pageSize, total })
  if (take === 0) return { ids: [], total }
  const order = reversed ? sql`p.updated_at, p.book_id` : sql`p.updated_at desc, p.book_id desc`
  const rows = await unprepared(sql<{ id: string }[]>`
    select p.book_id as id
    ${fromProgress(sql, viewer, request)}
    order by ${order}
    limit ${take} offset ${skip}`)
  return { ids: idsInOrder(rows, reversed), total }
}

function fromProgress(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, includeCompleted = false }: BookRequest,
): Fragment {
  return sql`
    from progress p
    join book b on b.id = p.book_id and ${presentBook(sql)} ${inLibrary(sql, 'b', libraryId)}
    join series s on s.id = b.series_id and ${visibleBook(sql, viewer)}
    where p.account_id = ${viewer.accountId}
      and ${includeCompleted ? sql`true` : sql`not p.is_completed`}`
}

/** From the counters of series, unless single books of a series may be hidden. */
async function countBooks(sql: Sql, viewer: Viewer, request: BookRequest): Promise<number> {
  const { libraryId, includeCompleted = false } = request
  const count = includeCompleted ? sql`r.started_count + r.read_count` : sql`r.started_count`
  const query = hidesBooks(viewer)
    ? sql<{ total: number }[]>`
        select count(*)::float8 as total ${fromProgress(sql, viewer, request)}`
    : sql<{ total: number }[]>`
        select coalesce(sum(${count}), 0)::float8 as total
        from series_reading r
        join series s on s.id = r.series_id and s.book_count > 0
        where r.account_id = ${viewer.accountId} ${inLibrary(sql, 's', libraryId)}
          and ${visibleSeries(sql, viewer)}`
  const [row] = await unprepared(query)
  return row!.total
}

/** Ids of the series with a book that the viewer has begun and not completed, by title. */
export async function seriesInProgress(
  sql: Sql,
  viewer: Viewer,
  request: ReadingListRequest,
): Promise<IdPage> {
  // Counters include hidden books; a series must not be listed because of one.
  const hasVisible = hidesBooks(viewer)
    ? sql`and exists (
          select from book b
          join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
          where b.series_id = s.id and ${presentBook(sql)} and not p.is_completed
            and ${visibleBook(sql, viewer)})`
    : sql``
  const [row] = await unprepared(sql<IdPage[]>`
    with begun as materialized (
      select s.id, s.sort_key
      from series_reading r
      join series s on s.id = r.series_id and s.book_count > 0
      where r.account_id = ${viewer.accountId} and r.started_count > 0
        ${inLibrary(sql, 's', request.libraryId)} and ${visibleSeries(sql, viewer)} ${hasVisible}
    )
    select (select count(*) from begun)::float8 as total, array(
      select id from begun order by sort_key, id ${limitTo(sql, request)}) as ids`)
  return row!
}

/**
 * Ids of the next books: for every series of which the viewer has completed a book and begun no other,
 * the first book without progress. The series completed last comes first.
 */
export async function booksOnDeck(
  sql: Sql,
  viewer: Viewer,
  request: ReadingListRequest,
): Promise<IdPage> {
  const next = (seriesId: Fragment) => nextBook(sql, viewer, seriesId)
  const deck = hidesBooks(viewer)
    ? // Counters include hidden books, which must neither list a series nor keep it off.
      sql`
        select s.id, v.at
        from series_reading r
        join series s on s.id = r.series_id and s.book_count > 0
        cross join lateral (
          select max(p.completed_at) as at, bool_or(not p.is_completed) as has_started
          from book b
          join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
          where b.series_id = s.id and ${presentBook(sql)} and ${visibleBook(sql, viewer)}) v
        where r.account_id = ${viewer.accountId} and r.read_count > 0
          and v.at is not null and not v.has_started
          ${inLibrary(sql, 's', request.libraryId)} and ${visibleSeries(sql, viewer)}
          and ${next(sql`s.id`)} is not null`
    : sql`
        select s.id, r.last_completed_at as at
        from series_reading r
        join series s on s.id = r.series_id and s.book_count > 0
        where r.account_id = ${viewer.accountId} and r.read_count > 0 and r.started_count = 0
          and r.read_count < s.book_count ${inLibrary(sql, 's', request.libraryId)}
          and ${visibleSeries(sql, viewer)}`
  const [row] = await unprepared(sql<IdPage[]>`
    with deck as materialized (${deck}), page as materialized (
      select id, at from deck order by at desc, id desc ${limitTo(sql, request)}
    )
    select (select count(*) from deck)::float8 as total, array(
      select next from (select ${next(sql`page.id`)} as next, at, id from page) n
      where next is not null
      order by at desc, id desc) as ids`)
  return row!
}

// A scalar subquery, so that it is a walk along the index of the series that ends at the first match.
function nextBook(sql: Queryable, viewer: Viewer, seriesId: Fragment): Fragment {
  const visible = hidesBooks(viewer)
    ? sql`and (select ${visibleBook(sql, viewer)} from series s where s.id = b.series_id)`
    : sql``
  return sql`(
    select b.id from book b
    where b.series_id = ${seriesId} and ${presentBook(sql)} ${visible}
      and (select true from progress p where p.account_id = ${viewer.accountId} and p.book_id = b.id)
        is null
    order by b.number_sort, b.name_key, b.id
    limit 1)`
}

function inLibrary(sql: Queryable, alias: 'b' | 's', libraryId: string | undefined): Fragment {
  return libraryId ? sql`and ${sql(alias)}.library_id = ${libraryId}` : sql``
}

function limitTo(sql: Queryable, { page, pageSize }: ReadingListRequest): Fragment {
  return sql`limit ${pageSize} offset ${(page - 1) * pageSize}`
}
