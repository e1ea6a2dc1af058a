// Reading progress: reads, writes and deletes it. Every write refreshes the counters of series_reading in
// its transaction.
import type { Sql, TransactionSql } from 'postgres'
import { isUnrestricted, presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { bookEvents, publish } from '../../event/publish.ts'
import type { Queryable } from '../../postgres/db.ts'
import { retryOnDeadlock } from '../../postgres/retry-on-deadlock.ts'
import { joinProgress } from '../book/visible-books.ts'
import { refreshAccountReading } from '../derived/series-reading.ts'
import { lockBookForProgress, lockSeriesForProgress } from '../locks.ts'
import type { ProgressRow } from './progress-record.ts'

/** An update by a client. Omitted values are inferred from the others or stay as they are. */
export type ProgressUpdate = {
  /** From 1; 0 for a book that was only opened. */
  currentPage?: number | undefined
  /** 0 to 1. */
  progressPercentage?: number | undefined
  completed?: boolean | undefined
  /** Time of reading by the client's clock. If it is older than the stored progress, nothing is written. */
  modified?: Date | undefined
  /** Precision of `modified` in milliseconds, at which the stored time is compared; 1 by default. */
  precisionMs?: number | undefined
  /** Nothing is written if the book is completed or the stored page is not before the new one. */
  onlyForward?: boolean
}

/** From this share on a book is completed; up to the other one a completed book is restarted. */
const completedFrom = 0.98
const restartedUpTo = 0.05

/** The viewer's progress in a book, or null. Throws NotFound for a hidden book. */
export async function findProgress(
  sql: Queryable,
  viewer: Viewer,
  bookId: string,
): Promise<ProgressRow | null> {
  const [row] = await sql<(ProgressRow | { accountId: null })[]>`
    select ${columns(sql)}
    from book b
    join series s on s.id = b.series_id
    ${joinProgress(sql, viewer)}
    where b.id = ${bookId} and ${visibleBook(sql, viewer)}`
  if (!row) throw new NotFound('Book not found')
  return row.accountId === null ? null : row
}

/** All progress of the viewer, including missing books, the newest first. */
export async function listProgress(
  sql: Queryable,
  viewer: Viewer,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ rows: ProgressRow[]; total: number }> {
  const visible = isUnrestricted(viewer)
    ? sql``
    : sql`join book b on b.id = p.book_id join series s on s.id = b.series_id and ${visibleBook(sql, viewer)}`
  const fromProgress = sql`from progress p ${visible} where p.account_id = ${viewer.accountId}`
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${fromProgress}`
  const { total } = count!
  if (offset >= total) return { rows: [], total }
  const rows = await sql<ProgressRow[]>`
    select ${columns(sql)} ${fromProgress}
    order by p.updated_at desc, p.book_id desc
    limit ${limit} offset ${offset}`
  return { rows: [...rows], total }
}

type ProgressRequest = {
  bookId: string
  update: ProgressUpdate
  /** Runs in the same transaction, if the progress is written. */
  afterSave?: (tx: TransactionSql) => Promise<unknown>
}

/** Writes progress and returns what is stored then. Throws NotFound for a hidden book. */
export async function saveProgress(
  sql: Sql,
  viewer: Viewer,
  request: ProgressRequest,
): Promise<ProgressRow> {
  return (await trySaveProgress(sql, viewer, request)).row
}

/** As saveProgress; `isSaved` is false if the stored progress is newer at the precision of the client's clock. */
export async function trySaveProgress(
  sql: Sql,
  viewer: Viewer,
  { bookId, update, afterSave }: ProgressRequest,
): Promise<{ row: ProgressRow; isSaved: boolean }> {
  return await retryOnDeadlock(sql, async tx => {
    const { pageCount } = await lockBookForProgress(tx, viewer, bookId)
    const next = resolveUpdate(update, pageCount)
    const [saved] = await tx<(ProgressRow & { seriesId: string; libraryId: string })[]>`
      insert into progress as p (account_id, book_id, current_page, percentage, is_completed,
        started_at, updated_at, completed_at)
      select ${viewer.accountId}, ${bookId}, ${next.page ?? 0}, ${next.percentage}, ${next.isCompleted},
        t.at, t.at, case when ${next.isCompleted} then t.at end
      from (
        select least(coalesce(${update.modified ?? null}::timestamptz, statement_timestamp()),
          statement_timestamp()) as at) t
      on conflict (account_id, book_id) do update set
        current_page = ${next.page === null ? tx`p.current_page` : tx`excluded.current_page`},
        percentage = ${next.retainsPercentage ? tx`p.percentage` : tx`excluded.percentage`},
        is_completed = excluded.is_completed,
        started_at = case when p.is_completed and not excluded.is_completed and ${next.isStart}
          then excluded.updated_at else p.started_at end,
        updated_at = excluded.updated_at,
        completed_at = case when not excluded.is_completed then null
          when p.is_completed then p.completed_at else excluded.updated_at end
      where (${update.modified === undefined}
          or date_bin(make_interval(secs => ${(update.precisionMs ?? 1) / 1000}), p.updated_at,
            'epoch') <= excluded.updated_at)
        and (not ${update.onlyForward ?? false}
          or not p.is_completed and p.current_page < excluded.current_page)
      returning ${columns(tx)}, (select b.series_id from book b where b.id = p.book_id) as "seriesId",
        (select b.library_id from book b where b.id = p.book_id) as "libraryId"`
    if (!saved) return { row: (await findProgress(tx, viewer, bookId))!, isSaved: false }
    await afterSave?.(tx)
    const { seriesId, libraryId, ...row } = saved
    await refreshAccountReading(tx, viewer.accountId, [seriesId])
    await publishProgress(tx, viewer, [{ id: bookId, libraryId, seriesId }])
    return { row, isSaved: true }
  })
}

/** Deletes the viewer's progress in a book, if there is any. Throws NotFound for a hidden book. */
export async function deleteProgress(sql: Sql, viewer: Viewer, bookId: string): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    await lockBookForProgress(tx, viewer, bookId)
    const [book] = await tx<ChangedBook[]>`
      delete from progress p using book b
      where p.account_id = ${viewer.accountId} and p.book_id = ${bookId} and b.id = p.book_id
      returning b.id, b.series_id as "seriesId", b.library_id as "libraryId"`
    if (!book) return
    await deleteLocators(tx, viewer, [book])
    await refreshAccountReading(tx, viewer.accountId, [book.seriesId])
    await publishProgress(tx, viewer, [book])
  })
}

/** Completes all visible, present books of a series; returns how many were not completed. Throws NotFound for a hidden series. */
export async function completeSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<number> {
  return await retryOnDeadlock(sql, async tx => {
    const series = await lockSeriesForProgress(tx, viewer, seriesId)
    const books = await tx<{ id: string }[]>`
      insert into progress as p (account_id, book_id, current_page, is_completed, started_at,
        updated_at, completed_at)
      select ${viewer.accountId}, b.id, b.page_count, true, t.at, t.at, t.at
      from book b
      join series s on s.id = b.series_id
      cross join (select statement_timestamp() as at) t
      where b.series_id = ${seriesId} and ${presentBook(tx)} and ${visibleBook(tx, viewer)}
      order by b.id
      on conflict (account_id, book_id) do update set
        current_page = greatest(p.current_page, excluded.current_page), percentage = null,
        is_completed = true, updated_at = excluded.updated_at, completed_at = excluded.completed_at
      where not p.is_completed
      returning p.book_id as id`
    await refreshAccountReading(tx, viewer.accountId, [seriesId])
    await publishProgress(
      tx,
      viewer,
      books.map(book => ({ ...book, ...series })),
    )
    return books.length
  })
}

/** Deletes the viewer's progress in all visible, present books of a series; returns the number of books. Throws NotFound for a hidden series. */
export async function deleteSeriesProgress(
  sql: Sql,
  viewer: Viewer,
  seriesId: string,
): Promise<number> {
  return await retryOnDeadlock(sql, async tx => {
    const series = await lockSeriesForProgress(tx, viewer, seriesId)
    const books = await tx<{ id: string }[]>`
      delete from progress p
      using book b, series s
      where p.account_id = ${viewer.accountId} and b.id = p.book_id and b.series_id = ${seriesId}
        and s.id = b.series_id and ${presentBook(tx)} and ${visibleBook(tx, viewer)}
      returning b.id`
    await deleteLocators(tx, viewer, books)
    await refreshAccountReading(tx, viewer.accountId, [seriesId])
    await publishProgress(
      tx,
      viewer,
      books.map(book => ({ ...book, ...series })),
    )
    return books.length
  })
}

/** Deletes the positions inside books that reading apps store beside the progress. */
async function deleteLocators(
  tx: TransactionSql,
  { accountId }: Viewer,
  books: readonly { id: string }[],
) {
  const ids = books.map(({ id }) => id)
  await tx`
    delete from book_locator where account_id = ${accountId} and book_id = any(${ids}::uuid[])`
}

type ChangedBook = { id: string; libraryId: string; seriesId: string }

/** To the reader only. */
async function publishProgress(
  tx: TransactionSql,
  { accountId }: Viewer,
  books: readonly ChangedBook[],
) {
  await publish(tx, bookEvents('progress_updated', books, { accountId }))
}

type ResolvedUpdate = {
  /** Null to retain the stored one. */
  page: number | null
  percentage: number | null
  retainsPercentage: boolean
  isCompleted: boolean
  /** A completed book is restarted. */
  isStart: boolean
}

/** Pages beyond the end become the last page. Without a page count (0) no page is the last. */
export function resolveUpdate(update: ProgressUpdate, pageCount: number): ResolvedUpdate {
  const { currentPage, progressPercentage: percentage, completed } = update
  const page =
    currentPage === undefined || pageCount === 0 ? currentPage : Math.min(currentPage, pageCount)
  const isLastPage = pageCount > 0 && page === pageCount
  return {
    page: page ?? inferPage(update, pageCount),
    percentage: percentage ?? null,
    retainsPercentage: percentage === undefined && page === undefined && !completed,
    isCompleted: completed ?? (isLastPage || (percentage ?? 0) >= completedFrom),
    isStart:
      percentage === undefined
        ? page !== undefined && page <= Math.max(1, pageCount * restartedUpTo)
        : percentage <= restartedUpTo,
  }
}

function inferPage(
  { progressPercentage, completed }: ProgressUpdate,
  pageCount: number,
): number | null {
  if (pageCount === 0) return null
  if (progressPercentage !== undefined) return Math.floor(progressPercentage * pageCount)
  return completed ? pageCount : null
}

function columns(sql: Queryable) {
  return sql`p.account_id as "accountId", p.book_id as "bookId", p.current_page as "currentPage",
    p.percentage, p.is_completed as "isCompleted", p.started_at as "startedAt",
    p.updated_at as "updatedAt", p.completed_at as "completedAt"`
}
