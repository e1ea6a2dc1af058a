// Marks of whole books as read or unread, in one statement for any number of books.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../accounts/viewer.ts'
import { newId } from '../base/id.ts'
import { refreshAccountReading } from '../catalog/derived/series-reading.ts'
import { lockBooksForProgress, lockSeriesForProgress } from '../catalog/row-locks.ts'
import { bookEvents, publish } from '../store/event/publish.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { ensureDevices, knownDevices } from './device.ts'
import { admitEntries } from './limit.ts'
import type { ReadingOrigin } from './record.ts'

/** Books, including missing ones, or the present books of series. */
export type MarkSelection = { books: readonly string[] } | { series: readonly string[] }
type Changed = { id: string; seriesId: string; libraryId: string }

/**
 * Marks the visible books of a selection; `count` is the number of changed books, `found` the number of visible
 * books or series in the selection. A completed book is not counted as read again.
 */
export async function markBooks(
  sql: Sql,
  viewer: Viewer,
  {
    origin,
    mark,
    ...selection
  }: MarkSelection & { origin: ReadingOrigin; mark: 'read' | 'unread' },
): Promise<{ count: number; found: number }> {
  const { accountId } = viewer
  return await retryOnDeadlock(sql, async tx => {
    const selected =
      'books' in selection
        ? await lockBooksForProgress(tx, viewer, [...new Set(selection.books)])
        : await lockSeriesForProgress(tx, viewer, [...new Set(selection.series)])
    if (selected.length === 0) return { count: 0, found: 0 }
    const devices = [origin.device]
    const known = await knownDevices(tx, accountId, devices)
    const { idOf } = await ensureDevices(tx, accountId, { devices, known })
    const target = selectedBooks(tx, viewer, selection)
    await admitEntries(tx, accountId, { added: selected.length, books: target })
    const request = { accountId, target, surface: origin.surface, device: idOf(origin.device.key) }
    const books = await (mark === 'read' ? markRead(tx, request) : markUnread(tx, request))
    const series = books.map(({ seriesId }) => seriesId)
    const fields = mark === 'unread' ? { fields: ['deleted'] } : {}
    await Promise.all([
      refreshAccountReading(tx, accountId, series),
      publish(tx, bookEvents('progress_updated', books, { accountId, ...fields })),
    ])
    return { count: books.length, found: selected.length }
  })
}

function selectedBooks(tx: Transaction, viewer: Viewer, selection: MarkSelection): Fragment {
  const condition =
    'books' in selection
      ? tx`b.id = any(${selection.books as string[]}::uuid[])`
      : tx`b.series_id = any(${selection.series as string[]}::uuid[]) and ${presentBook(tx)}`
  return tx`
    select b.id, b.page_count, b.series_id, b.library_id
    from book b
    join series s on s.id = b.series_id
    where ${condition} and ${visibleBook(tx, viewer)}
    order by b.id`
}

type MarkRequest = { accountId: string; target: Fragment; surface: string; device: number }

/** The time of a mark: now, but later than everything stored for book `b`. */
function markTime(tx: Transaction, accountId: string): Fragment {
  return tx`greatest(date_trunc('milliseconds', statement_timestamp()), (
    select max(r.ended_at) + interval '1 ms' from reading_session r
    where r.account_id = ${accountId} and r.book_id = b.id), p.updated_at + interval '1 ms')`
}

/** Completes the open pass; without one, the mark opens it, or sittings without a position do. */
async function markRead(
  tx: Transaction,
  { accountId, target, surface, device }: MarkRequest,
): Promise<Changed[]> {
  return await tx<Changed[]>`
    with target as materialized (${target}), marked as materialized (
      select b.id, b.series_id, b.library_id, p.finished_at, ${markTime(tx, accountId)} as at,
        case when b.page_count > 0 then b.page_count else coalesce(p.current_page, 0) end as page,
        coalesce(p.started_at, opened.at) as started_at, ${newId()}::uuid as position_id
      from target b
      left join progress p on p.account_id = ${accountId} and p.book_id = b.id
      left join lateral (
        select max(r.ended_at) as at from reading_session r
        where p.book_id is null and r.account_id = ${accountId} and r.book_id = b.id
          and r.kind = 'reset') reset on true
      left join lateral (
        select min(greatest(r.started_at, reset.at)) as at from reading_session r
        where p.book_id is null and r.account_id = ${accountId} and r.book_id = b.id
          and r.kind in ('progress', 'completed')
          and r.ended_at > coalesce(reset.at, '-infinity')) opened on true
      where p.is_completed is not true
    ), entry as (
      insert into reading_session (account_id, id, book_id, kind, surface, device, started_at,
        ended_at, page, completed_at)
      select ${accountId}, gen_random_uuid(), id, 'read', ${surface}, ${device}, at, at, page, array[at]
      from marked
    ), pass as (
      insert into reading_pass (account_id, book_id, started_at, completed_at, device)
      select ${accountId}, id, coalesce(started_at, at), at, ${device}
      from marked where finished_at is null
    )
    insert into progress as p (account_id, book_id, current_page, is_completed, started_at,
      updated_at, completed_at, finished_at, position_id)
    select ${accountId}, id, page, true, coalesce(started_at, at), at, coalesce(finished_at, at),
      coalesce(finished_at, at), position_id
    from marked
    order by id
    on conflict (account_id, book_id) do update set current_page = excluded.current_page,
      percentage = null, is_completed = true, updated_at = excluded.updated_at,
      completed_at = excluded.completed_at, finished_at = excluded.finished_at,
      position_id = excluded.position_id
    returning book_id as id, (select m.series_id from marked m where m.id = book_id) as "seriesId",
      (select m.library_id from marked m where m.id = book_id) as "libraryId"`
}

async function markUnread(
  tx: Transaction,
  { accountId, target, surface, device }: MarkRequest,
): Promise<Changed[]> {
  return await tx<Changed[]>`
    with target as materialized (${target}), marked as materialized (
      select b.id, b.series_id, b.library_id, ${markTime(tx, accountId)} as at
      from target b
      join progress p on p.account_id = ${accountId} and p.book_id = b.id
    ), entry as (
      insert into reading_session (account_id, id, book_id, kind, surface, device, started_at,
        ended_at)
      select ${accountId}, gen_random_uuid(), id, 'reset', ${surface}, ${device}, at, at from marked
    ), cleared as (
      delete from progress p using marked
      where p.account_id = ${accountId} and p.book_id = marked.id
    ), located as (
      delete from book_locator l using marked
      where l.account_id = ${accountId} and l.book_id = marked.id
    )
    select id, series_id as "seriesId", library_id as "libraryId" from marked`
}
