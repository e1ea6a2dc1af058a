// "Continue reading" lists: books and series in progress, recently read books, and the next book of every
// series ("on deck").
import type { Fragment, Sql } from 'postgres'
import {
  beyondAge,
  fromBooksBeyondAge,
  hidesBooks,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { readingOrder } from '../../catalog/derived/reading-order.ts'
import { booksWithProgress, pageOfBooks } from '../../list/list-books.ts'
import { type IdPage, nearestEnd } from '../../list/sort.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'

export type ReadingListRequest = {
  libraryId?: string | undefined
  /** 1-based. */
  page: number
  pageSize: number
}
type BookRequest = ReadingListRequest & { includeCompleted?: boolean }

/** Ids of the present books that the viewer has started and not completed (or all started), most recently read first. */
export async function booksInProgress(
  db: WithServices,
  viewer: Viewer,
  request: BookRequest,
): Promise<IdPage> {
  const { libraryId, page, pageSize, includeCompleted } = request
  if (!includeCompleted) return await readBooksInProgress(db.sql, viewer, request)
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  return await pageOfBooks(db, viewer, { ...booksWithProgress, ...window, libraryId })
}

async function readBooksInProgress(sql: Sql, viewer: Viewer, request: ReadingListRequest) {
  if (hidesBooks(viewer)) return await readVisible(sql, viewer, request)
  const total = await countBooks(sql, viewer, request)
  const offset = (request.page - 1) * request.pageSize
  const { skip, take, reversed } = nearestEnd({ offset, limit: request.pageSize, total })
  if (take === 0) return { ids: [], total }
  const order = reversed ? sql`p.updated_at, p.book_id` : sql`p.updated_at desc, p.book_id desc`
  const rows = await unprepared(sql<{ id: string }[]>`
    select p.book_id as id
    from progress p ${joinVisibleBooks(sql, viewer, request)}
    where p.account_id = ${viewer.accountId} and not p.is_completed
    order by ${order}
    limit ${take} offset ${skip}`)
  const ids = rows.map(row => row.id)
  return { ids: reversed ? ids.reverse() : ids, total }
}

/** For accounts from which individual books are hidden: each book in progress is looked up once, to be counted and listed. */
async function readVisible(sql: Sql, viewer: Viewer, request: ReadingListRequest): Promise<IdPage> {
  // Materialized: PostgreSQL would start parallel workers that read all books ever started.
  const [row] = await unprepared(sql<IdPage[]>`
    with begun as materialized (
      select book_id, updated_at from progress
      where account_id = ${viewer.accountId} and not is_completed
    ), visible as materialized (
      select p.book_id, p.updated_at from begun p ${joinVisibleBooks(sql, viewer, request)}
    )
    select (select count(*) from visible)::float8 as total, array(
      select book_id from visible order by updated_at desc, book_id desc ${limitTo(sql, request)}) as ids`)
  return row!
}

/** Joins the book of `p`. */
function joinVisibleBooks(
  sql: Queryable,
  viewer: Viewer,
  { libraryId }: ReadingListRequest,
): Fragment {
  return sql`
    join book b on b.id = p.book_id and ${presentBook(sql)} ${inLibrary(sql, 'b', libraryId)}
    join series s on s.id = b.series_id and ${visibleBook(sql, viewer)}`
}

/** From the counters of series, when no individual books are hidden. */
async function countBooks(sql: Sql, viewer: Viewer, { libraryId }: ReadingListRequest) {
  const [row] = await unprepared(sql<{ total: number }[]>`
    select coalesce(sum(r.started_count), 0)::float8 as total
    from series_reading r
    join series s on s.id = r.series_id and s.book_count > 0
    where r.account_id = ${viewer.accountId} ${inLibrary(sql, 's', libraryId)}
      and ${visibleSeries(sql, viewer)}`)
  return row!.total
}

/** Ids of the series with a book that the viewer has started and not completed, by title. */
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
 * Ids of the next books: for every series in which the viewer has completed a book and started no other, the
 * first book without progress. The most recently completed series comes first.
 */
export async function booksOnDeck(
  sql: Sql,
  viewer: Viewer,
  request: ReadingListRequest,
): Promise<IdPage> {
  const [row] = await unprepared(sql<IdPage[]>`
    with ${readBeyondAge(sql, viewer)}, deck as materialized (
      select s.id, case when coalesce(h.read, 0) = 0 then r.last_completed_at
        else ${lastCompleted(sql, viewer)} end as at
      from series_reading r
      join series s on s.id = r.series_id and s.book_count > 0
      left join beyond h on h.series_id = s.id
      where r.account_id = ${viewer.accountId} and r.read_count > 0
        and r.read_count > coalesce(h.read, 0) and r.started_count = coalesce(h.started, 0)
        and r.read_count - coalesce(h.read, 0) < s.book_count - coalesce(h.books, 0)
        ${inLibrary(sql, 's', request.libraryId)} and ${visibleSeries(sql, viewer)}
    ), page as materialized (
      select id, at from deck order by at desc, id desc ${limitTo(sql, request)}
    )
    select (select count(*) from deck)::float8 as total, array(
      select next from (select ${nextBook(sql, viewer, sql`page.id`)} as next, at, id from page) n
      where next is not null
      order by at desc, id desc) as ids`)
  return row!
}

/**
 * The expression `beyond`: how many present books are hidden by an age limit in the series the viewer has read in,
 * and their part of the reading counters. They must neither list a series nor keep it off.
 */
function readBeyondAge(sql: Queryable, viewer: Viewer): Fragment {
  if (!hidesBooks(viewer))
    return sql`beyond as (
      select null::uuid as series_id, 0 as books, 0 as read, 0 as started where false)`
  return sql`beyond as materialized (
    select b.series_id, count(*) as books, count(*) filter (where p.is_completed) as read,
      count(*) filter (where not p.is_completed) as started
    from (
      select y.id, y.series_id ${fromBooksBeyondAge(sql, viewer)} and y.series_id in (
        select r.series_id from series_reading r
        where r.account_id = ${viewer.accountId} and r.read_count > 0)) b
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    group by b.series_id)`
}

/** When the viewer last completed a visible book of `series s`. */
function lastCompleted(sql: Queryable, viewer: Viewer): Fragment {
  return sql`(
    select max(p.completed_at) from book b
    join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where b.series_id = s.id and ${presentBook(sql)} and (${beyondAge(sql, viewer)}) is not true)`
}

// For a visible series. A scalar subquery walks along the index of the series and stops at the first match.
function nextBook(sql: Queryable, viewer: Viewer, seriesId: Fragment): Fragment {
  return sql`(
    select b.id from book b
    where b.series_id = ${seriesId} and ${presentBook(sql)}
      and (${beyondAge(sql, viewer)}) is not true
      and (select true from progress p where p.account_id = ${viewer.accountId} and p.book_id = b.id)
        is null
    order by ${readingOrder(sql, 'b')}
    limit 1)`
}

function inLibrary(sql: Queryable, alias: 'b' | 's', libraryId: string | undefined): Fragment {
  return libraryId ? sql`and ${sql(alias)}.library_id = ${libraryId}` : sql``
}

function limitTo(sql: Queryable, { page, pageSize }: ReadingListRequest): Fragment {
  return sql`limit ${pageSize} offset ${(page - 1) * pageSize}`
}
