// Read history: the completed passes through a book or a series, and their removal.
import { presentBook, type Viewer, visibleBook, visibleSeries } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import { lockBooksForProgress, lockSeriesForProgress } from '../catalog/row-locks.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { forgetCount } from './limit.ts'

export type HistoryEntry = { id: string | null; startedAt: Date; completedAt: Date }
export type ReadHistory = {
  readCount: number
  lastCompletedAt: Date | null
  /** Newest first, at most `maxEntries`. */
  entries: HistoryEntry[]
}

export const maxEntries = 1_000

type Row = HistoryEntry & { total: number }

const toHistory = (rows: readonly Row[]): ReadHistory => ({
  readCount: rows[0]?.total ?? 0,
  lastCompletedAt: rows[0]?.completedAt ?? null,
  entries: rows.map(({ total: _, ...entry }) => entry),
})

/** The id of a pass `r`, derived because the ledger knows passes only by their time. */
const passId = (sql: Queryable) =>
  sql`md5(r.account_id::text || r.book_id::text || extract(epoch from r.completed_at)::text)::uuid`

/** Throws NotFound for a hidden book. */
export async function bookHistory(
  sql: Queryable,
  viewer: Viewer,
  bookId: string,
): Promise<ReadHistory> {
  const [book] = await sql`
    select from book b join series s on s.id = b.series_id
    where b.id = ${bookId} and ${visibleBook(sql, viewer)}`
  if (!book) throw new NotFound('Book not found')
  return toHistory(
    await sql<Row[]>`
      select ${passId(sql)} as id, r.started_at as "startedAt", r.completed_at as "completedAt",
        count(*) over () as total
      from reading_pass r
      where r.account_id = ${viewer.accountId} and r.book_id = ${bookId}
      order by r.completed_at desc
      limit ${maxEntries}`,
  )
}

/** A series was read as often as its least-read visible, present book. Throws NotFound for a hidden series. */
export async function seriesHistory(
  sql: Queryable,
  viewer: Viewer,
  seriesId: string,
): Promise<ReadHistory> {
  const [series] = await sql`
    select from series s where s.id = ${seriesId} and ${visibleSeries(sql, viewer)}`
  if (!series) throw new NotFound('Series not found')
  return toHistory(
    await sql<Row[]>`
      with own as (
        select b.id from book b join series s on s.id = b.series_id
        where b.series_id = ${seriesId} and ${presentBook(sql)} and ${visibleBook(sql, viewer)}
      ), numbered as (
        select r.started_at, r.completed_at,
          row_number() over (partition by r.book_id order by r.completed_at) as number
        from own join reading_pass r
          on r.account_id = ${viewer.accountId} and r.book_id = own.id
      )
      select null as id, min(started_at) as "startedAt", max(completed_at) as "completedAt",
        count(*) over () as total
      from numbered
      group by number
      having count(*) = (select count(*) from own)
      order by number desc
      limit ${maxEntries}`,
  )
}

/** Removes the passes of a book, or one of them by id, from the history. The position stays. Throws NotFound. */
export async function forgetBook(
  sql: Sql,
  viewer: Viewer,
  { bookId, passId: id }: { bookId: string; passId?: string },
): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    const books = await lockBooksForProgress(tx, viewer, [bookId])
    if (books.length === 0) throw new NotFound('Book not found')
    const count = await forgetPasses(tx, viewer, { bookIds: [bookId], id: id ?? null })
    if (id !== undefined && count === 0) throw new NotFound('Entry not found')
  })
}

/** Like `forgetBook`, for all visible books of a series. */
export async function forgetSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    const [series] = await lockSeriesForProgress(tx, viewer, [seriesId])
    if (!series) throw new NotFound('Series not found')
    const books = await tx<{ id: string }[]>`
      select b.id from book b join series s on s.id = b.series_id
      where b.series_id = ${seriesId} and ${visibleBook(tx, viewer)}`
    await forgetPasses(tx, viewer, { bookIds: books.map(book => book.id), id: null })
  })
}

/** Adds a ledger entry at the time of each pass, so that it is not counted when passes are folded again. */
async function forgetPasses(
  tx: Transaction,
  { accountId }: Viewer,
  { bookIds, id }: { bookIds: readonly string[]; id: string | null },
): Promise<number> {
  const { count } = await tx`
    with forgotten as (
      delete from reading_pass r
      where r.account_id = ${accountId} and r.book_id = any(${bookIds as string[]}::uuid[])
        and (${id}::uuid is null or ${passId(tx)} = ${id}::uuid)
      returning r.book_id, r.completed_at
    )
    insert into reading_session (account_id, id, book_id, kind, surface, started_at, ended_at)
    select ${accountId}, gen_random_uuid(), book_id, 'forget', 'api', completed_at, completed_at
    from forgotten`
  return count
}

/**
 * Erases an account's reading, and its devices. Positions stay: for each of them an entry without a device is
 * what later reading continues from. Marks as unread stay as well.
 */
export async function eraseHistory(sql: Sql, accountId: string): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    await tx`select from account where id = ${accountId} for no key update`
    await tx`
      delete from reading_session r
      where r.account_id = ${accountId} and r.id not in (
        select distinct on (u.book_id) u.id
        from reading_session u
        where u.account_id = ${accountId} and u.kind = 'reset' and not exists (
          select from progress p where p.account_id = u.account_id and p.book_id = u.book_id)
        order by u.book_id, u.ended_at desc)`
    await tx`
      update reading_session set device = null, started_at = ended_at, recorded_at = ended_at,
        measured_ms = null, pages_read = null
      where account_id = ${accountId}`
    await tx`delete from reading_pass where account_id = ${accountId}`
    await tx`delete from reading_device where account_id = ${accountId}`
    await tx`
      insert into reading_session (account_id, id, book_id, kind, surface, started_at, ended_at,
        recorded_at, page, percentage, completed_at)
      select account_id, gen_random_uuid(), book_id, 'baseline', 'api',
        least(started_at, updated_at), updated_at, updated_at, current_page, percentage,
        case when coalesce(finished_at, completed_at) is null then '{}'
          else array[coalesce(finished_at, completed_at)] end
      from progress where account_id = ${accountId}`
  })
  forgetCount(accountId)
}
