// Stored positions of an account, in the form that the reading ledger uses.
import type { Queryable, Transaction } from '../store/postgres/db.ts'
import { knownEntries } from './entry-rows.ts'

/** The stored position and its pass. Times in ms since 1970. */
export type StoredProgress = {
  page: number
  percentage: number | null
  isCompleted: boolean
  startedAt: number
  updatedAt: number
  /** When the pass was first completed. */
  finishedAt: number | null
  /** Id of the write that set the position. */
  positionId: string | null
}

export type StoredReading = {
  /** Null for a book that was not started. */
  progress: StoredProgress | null
  /** The last reset of a book that was not started. */
  reset: { at: number; id: string } | null
  /** Whether the ledger has entries for the book. */
  hasEntries: boolean
}

type Row = {
  bookId: string
  page: number | null
  percentage: number | null
  isCompleted: boolean | null
  startedAt: Date | null
  updatedAt: Date | null
  completedAt: Date | null
  finishedAt: Date | null
  positionId: string | null
  resetAt: Date | null
  resetId: string | null
  hasEntries: boolean
}

/** Progress by book, the server time in ms since 1970, and those of `sessionIds` that are known. */
export async function loadProgress(
  tx: Queryable,
  accountId: string,
  { bookIds, sessionIds }: { bookIds: readonly string[]; sessionIds: readonly string[] },
): Promise<{ stored: Map<string, StoredReading>; serverTime: number; known: Set<string> }> {
  const [rows, known] = await Promise.all([
    tx<(Row & { now: number })[]>`
      select w.id as "bookId", p.current_page as page, p.percentage,
        p.is_completed as "isCompleted", p.started_at as "startedAt", p.updated_at as "updatedAt",
        p.completed_at as "completedAt", p.finished_at as "finishedAt",
        p.position_id as "positionId", e.ended_at as "resetAt", e.id as "resetId",
        p.book_id is not null or exists (
          select from reading_session r
          where r.account_id = ${accountId} and r.book_id = w.id) as "hasEntries",
        floor(extract(epoch from statement_timestamp()) * 1000)::float8 as now
      from unnest(${bookIds as string[]}::uuid[]) as w(id)
      left join progress p on p.account_id = ${accountId} and p.book_id = w.id
      left join lateral (
        select r.ended_at, r.id from reading_session r
        where p.book_id is null and r.account_id = ${accountId} and r.book_id = w.id
          and r.kind = 'reset'
        order by r.ended_at desc, r.id desc
        limit 1) e on true`,
    sessionIds.length === 0 ? new Set<string>() : knownEntries(tx, accountId, sessionIds),
  ])
  const stored = new Map(rows.map(row => [row.bookId, toReading(row)]))
  return { stored, serverTime: rows[0]?.now ?? 0, known }
}

function toReading(row: Row): StoredReading {
  const { hasEntries, resetAt, resetId } = row
  const reset = resetAt === null ? null : { at: resetAt.getTime(), id: resetId! }
  if (row.updatedAt === null) return { progress: null, reset, hasEntries }
  const finishedAt = row.finishedAt ?? (row.isCompleted ? (row.completedAt ?? row.updatedAt) : null)
  const progress = {
    ...{ page: row.page!, percentage: row.percentage, isCompleted: row.isCompleted! },
    ...{ startedAt: row.startedAt!.getTime(), updatedAt: row.updatedAt.getTime() },
    ...{ finishedAt: finishedAt?.getTime() ?? null, positionId: row.positionId },
  }
  return { progress, reset, hasEntries }
}

export type ChangedProgress = StoredProgress & { bookId: string }

/** Inserts or replaces positions. */
export async function storeProgress(
  tx: Transaction,
  accountId: string,
  changes: readonly ChangedProgress[],
): Promise<void> {
  if (changes.length === 0) return
  const rows = changes.map(change => ({
    ...{ book_id: change.bookId, current_page: change.page, percentage: change.percentage },
    ...{ is_completed: change.isCompleted, started_at: new Date(change.startedAt) },
    updated_at: new Date(change.updatedAt),
    finished_at: change.finishedAt === null ? null : new Date(change.finishedAt),
    position_id: change.positionId,
  }))
  await tx`
    insert into progress (account_id, book_id, current_page, percentage, is_completed, started_at,
      updated_at, completed_at, finished_at, position_id)
    select ${accountId}, book_id, current_page, percentage, is_completed, started_at, updated_at,
      case when is_completed then coalesce(finished_at, updated_at) end, finished_at, position_id
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(book_id uuid, current_page integer,
      percentage double precision, is_completed boolean, started_at timestamptz,
      updated_at timestamptz, finished_at timestamptz, position_id uuid)
    on conflict (account_id, book_id) do update set current_page = excluded.current_page,
      percentage = excluded.percentage, is_completed = excluded.is_completed,
      started_at = excluded.started_at, updated_at = excluded.updated_at,
      completed_at = excluded.completed_at, finished_at = excluded.finished_at,
      position_id = excluded.position_id`
}

/** Deletes positions, and the locators that reading apps stored with them. */
export async function deleteStoredProgress(
  tx: Transaction,
  accountId: string,
  bookIds: readonly string[],
): Promise<void> {
  if (bookIds.length === 0) return
  const ids = bookIds as string[]
  await Promise.all([
    tx`delete from progress where account_id = ${accountId} and book_id = any(${ids}::uuid[])`,
    tx`delete from book_locator where account_id = ${accountId} and book_id = any(${ids}::uuid[])`,
  ])
}
