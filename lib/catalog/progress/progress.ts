// How far readers are in books: read, written and cleared. Every write counts series_reading anew in
// its own transaction.
import type { Sql, TransactionSql } from 'postgres'
import { isUnrestricted, seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { ofBooks, tell } from '../../event/publish.ts'
import { changing } from '../metadata/metadata-change.ts'
import type { ProgressRow } from './progress-record.ts'
import { recountReadingOf } from './series-reading.ts'

type Db = Sql | TransactionSql

/** What a client says about a place in a book; what it leaves out stays, or follows from the rest. */
export type Position = {
  /** From 1; 0 is opened and no more. */
  currentPage?: number | undefined
  /** 0 to 1. */
  progressPercentage?: number | undefined
  completed?: boolean | undefined
  /** When the reader was there, by the client's clock. Older than what is stored: nothing is written. */
  modified?: Date | undefined
  /** Nothing is written for a book that is completed, or read so far already. */
  onlyForward?: boolean
}

/** From here on a book counts as read, and up to here reading it begins anew. */
const nearlyAll = 0.98
const nearlyNone = 0.05

/** The viewer's place in a book, or null. Throws NotFound for a book that is not seen. */
export async function progressOf(
  sql: Db,
  viewer: Viewer,
  bookId: string,
): Promise<ProgressRow | null> {
  const [row] = await sql<(ProgressRow | { accountId: null })[]>`
    select ${columns(sql)}
    from book b
    join series s on s.id = b.series_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where b.id = ${bookId} and ${seesBook(sql, viewer)}`
  if (!row) throw new NotFound('Book not found')
  return row.accountId === null ? null : row
}

/** All places of the viewer, also in missing books, the newest first. */
export async function allProgress(
  sql: Db,
  viewer: Viewer,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ rows: ProgressRow[]; total: number }> {
  const seen = isUnrestricted(viewer)
    ? sql``
    : sql`join book b on b.id = p.book_id join series s on s.id = b.series_id and ${seesBook(sql, viewer)}`
  const mine = sql`from progress p ${seen} where p.account_id = ${viewer.accountId}`
  const [counted] = await sql<{ total: number }[]>`select count(*) as total ${mine}`
  const { total } = counted!
  if (offset >= total) return { rows: [], total }
  const rows = await sql<ProgressRow[]>`
    select ${columns(sql)} ${mine}
    order by p.updated_at desc, p.book_id desc
    limit ${limit} offset ${offset}`
  return { rows: [...rows], total }
}

/** `beside` is done in the same transaction, if the place is written. */
type Move = {
  bookId: string
  position: Position
  beside?: (tx: TransactionSql) => Promise<unknown>
}

/** Writes a place and answers what is stored now. Throws NotFound for a book that is not seen. */
export async function moveTo(sql: Sql, viewer: Viewer, move: Move): Promise<ProgressRow> {
  return (await tryMoveTo(sql, viewer, move)).row
}

/** The same; not moved when what is stored is newer. Times count in milliseconds, as clients know them. */
export async function tryMoveTo(
  sql: Sql,
  viewer: Viewer,
  { bookId, position, beside }: Move,
): Promise<{ row: ProgressRow; isMoved: boolean }> {
  return await changing(sql, async tx => {
    const { pageCount } = await holdBook(tx, viewer, bookId)
    const place = placeOf(position, pageCount)
    const [moved] = await tx<(ProgressRow & { seriesId: string; libraryId: string })[]>`
      insert into progress as p (account_id, book_id, current_page, percentage, is_completed,
        started_at, updated_at, completed_at)
      select ${viewer.accountId}, ${bookId}, ${place.page ?? 0}, ${place.percentage}, ${place.isCompleted},
        t.at, t.at, case when ${place.isCompleted} then t.at end
      from (
        select least(coalesce(${position.modified ?? null}::timestamptz, statement_timestamp()),
          statement_timestamp()) as at) t
      on conflict (account_id, book_id) do update set
        current_page = ${place.page === null ? tx`p.current_page` : tx`excluded.current_page`},
        percentage = ${place.keepsPercentage ? tx`p.percentage` : tx`excluded.percentage`},
        is_completed = excluded.is_completed,
        started_at = case when p.is_completed and not excluded.is_completed and ${place.isStart}
          then excluded.updated_at else p.started_at end,
        updated_at = excluded.updated_at,
        completed_at = case when not excluded.is_completed then null
          when p.is_completed then p.completed_at else excluded.updated_at end
      where (${position.modified === undefined}
          or date_trunc('milliseconds', p.updated_at) <= excluded.updated_at)
        and (not ${position.onlyForward ?? false}
          or not p.is_completed and p.current_page < excluded.current_page)
      returning ${columns(tx)}, (select b.series_id from book b where b.id = p.book_id) as "seriesId",
        (select b.library_id from book b where b.id = p.book_id) as "libraryId"`
    if (!moved) return { row: (await progressOf(tx, viewer, bookId))!, isMoved: false }
    await beside?.(tx)
    const { seriesId, libraryId, ...row } = moved
    await recountReadingOf(tx, viewer.accountId, [seriesId])
    await tellProgressOf(tx, viewer, [{ id: bookId, libraryId, seriesId }])
    return { row, isMoved: true }
  })
}

/** Forgets the viewer's place in a book, if there is one. Throws NotFound for a book that is not seen. */
export async function forgetPlace(sql: Sql, viewer: Viewer, bookId: string): Promise<void> {
  await changing(sql, async tx => {
    await holdBook(tx, viewer, bookId)
    const [gone] = await tx<Moved[]>`
      delete from progress p using book b
      where p.account_id = ${viewer.accountId} and p.book_id = ${bookId} and b.id = p.book_id
      returning b.id, b.series_id as "seriesId", b.library_id as "libraryId"`
    if (!gone) return
    await forgetLocators(tx, viewer, [gone])
    await recountReadingOf(tx, viewer.accountId, [gone.seriesId])
    await tellProgressOf(tx, viewer, [gone])
  })
}

/** Completes all present books of a series; answers how many were not. Throws NotFound for a series that is not seen. */
export async function completeSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<number> {
  return await changing(sql, async tx => {
    const series = await holdSeries(tx, viewer, seriesId)
    const moved = await tx<{ id: string }[]>`
      insert into progress as p (account_id, book_id, current_page, is_completed, started_at,
        updated_at, completed_at)
      select ${viewer.accountId}, b.id, b.page_count, true, t.at, t.at, t.at
      from book b
      join series s on s.id = b.series_id
      cross join (select statement_timestamp() as at) t
      where b.series_id = ${seriesId} and b.missing_at is null and ${seesBook(tx, viewer)}
      order by b.id
      on conflict (account_id, book_id) do update set
        current_page = greatest(p.current_page, excluded.current_page), percentage = null,
        is_completed = true, updated_at = excluded.updated_at, completed_at = excluded.completed_at
      where not p.is_completed
      returning p.book_id as id`
    await recountReadingOf(tx, viewer.accountId, [seriesId])
    await tellProgressOf(
      tx,
      viewer,
      moved.map(book => ({ ...book, ...series })),
    )
    return moved.length
  })
}

/** Forgets the viewer's places in all present books of a series; answers how many there were. Throws NotFound for a series that is not seen. */
export async function forgetSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<number> {
  return await changing(sql, async tx => {
    const series = await holdSeries(tx, viewer, seriesId)
    const gone = await tx<{ id: string }[]>`
      delete from progress p
      using book b, series s
      where p.account_id = ${viewer.accountId} and b.id = p.book_id and b.series_id = ${seriesId}
        and s.id = b.series_id and b.missing_at is null and ${seesBook(tx, viewer)}
      returning b.id`
    await forgetLocators(tx, viewer, gone)
    await recountReadingOf(tx, viewer.accountId, [seriesId])
    await tellProgressOf(
      tx,
      viewer,
      gone.map(book => ({ ...book, ...series })),
    )
    return gone.length
  })
}

/** What reading apps wrote beside the places. */
async function forgetLocators(
  tx: TransactionSql,
  { accountId }: Viewer,
  books: readonly { id: string }[],
) {
  const ids = books.map(({ id }) => id)
  await tx`
    delete from book_locator where account_id = ${accountId} and book_id = any(${ids}::uuid[])`
}

type Moved = { id: string; libraryId: string; seriesId: string }

/** To the reader alone. */
async function tellProgressOf(tx: TransactionSql, { accountId }: Viewer, books: Moved[]) {
  await tell(tx, ofBooks('progress_updated', books, { accountId }))
}

type Place = {
  /** Null keeps the stored one. */
  page: number | null
  percentage: number | null
  keepsPercentage: boolean
  isCompleted: boolean
  isStart: boolean
}

/** Pages beyond the end are the last. While pages are not known, none of them is the last. */
export function placeOf(position: Position, pageCount: number): Place {
  const { currentPage, progressPercentage: percentage, completed } = position
  const said =
    currentPage === undefined || pageCount === 0 ? currentPage : Math.min(currentPage, pageCount)
  const isAtEnd = pageCount > 0 && said === pageCount
  const isCompleted = completed || isAtEnd || (completed ?? (percentage ?? 0) >= nearlyAll)
  return {
    page: said ?? pageMeant(position, pageCount),
    percentage: percentage ?? null,
    keepsPercentage: percentage === undefined && said === undefined && !completed,
    isCompleted,
    isStart:
      percentage === undefined
        ? said !== undefined && said <= Math.max(1, pageCount * nearlyNone)
        : percentage <= nearlyNone,
  }
}

function pageMeant({ progressPercentage, completed }: Position, pageCount: number): number | null {
  if (pageCount === 0) return null
  if (progressPercentage !== undefined) return Math.floor(progressPercentage * pageCount)
  return completed ? pageCount : null
}

// Writes of one account come after each other, and none while a scan settles the series: both count
// what is read of it. The account comes first: whoever waits for it holds no series meanwhile. The book
// comes last, lest it be erased; one that moved to another series meanwhile is looked for there.
async function holdBook(tx: TransactionSql, viewer: Viewer, bookId: string) {
  const hold = () => tx<{ pageCount: number }[]>`
    select b.page_count as "pageCount"
    from book b
    join series s on s.id = b.series_id
    join account a on a.id = ${viewer.accountId}
    where b.id = ${bookId} and ${seesBook(tx, viewer)}
    for no key update of a for share of s for key share of b`
  const book = (await hold())[0] ?? (await hold())[0]
  if (!book) throw new NotFound('Book not found')
  return book
}

async function holdSeries(tx: TransactionSql, viewer: Viewer, seriesId: string) {
  const [series] = await tx<Omit<Moved, 'id'>[]>`
    select s.id as "seriesId", s.library_id as "libraryId"
    from series s join account a on a.id = ${viewer.accountId}
    where s.id = ${seriesId} and ${seesSeries(tx, viewer)}
    for no key update of a for share of s`
  if (!series) throw new NotFound('Series not found')
  return series
}

function columns(sql: Db) {
  return sql`p.account_id as "accountId", p.book_id as "bookId", p.current_page as "currentPage",
    p.percentage, p.is_completed as "isCompleted", p.started_at as "startedAt",
    p.updated_at as "updatedAt", p.completed_at as "completedAt"`
}
