// Rows of the reading ledger: loads and stores an account's entries.
import type { Fragment } from 'postgres'
import type { Queryable, Transaction } from '../store/postgres/db.ts'
import type { Entry } from './entry.ts'
import { sittingGapMs } from './merge.ts'

/** Times are compared in milliseconds, and client precision may make them differ. */
const roundingSeconds = 2

type Row = Omit<Entry, 'startedAt' | 'endedAt' | 'restartedAt' | 'completedAt'> & {
  startedAt: Date
  endedAt: Date
  restartedAt: Date[]
  completedAt: Date[]
}

/** A write: its book, its device key, and its time by the client's clock; null for now. */
export type Surroundings = {
  bookId: string
  device: string
  startedAt: Date | null
  endedAt: Date | null
}

/**
 * The single positions near writes, and the sessions near those positions, for the known devices. `now` is
 * the server time, null for its clock.
 */
export async function nearbyEntries(
  tx: Queryable,
  accountId: string,
  { writes, now }: { writes: readonly Surroundings[]; now: Date | null },
): Promise<Entry[]> {
  if (writes.length === 0) return []
  const ofDevice = tx`r.account_id = ${accountId} and r.book_id = w2.book_id and r.device = d.id
    and r.kind in ('progress', 'completed')`
  const rows = await tx<Row[]>`
    select distinct on (near.id) ${entryColumns(tx, 'near')}
    from jsonb_to_recordset(${tx.json(writes as never)})
      as w("bookId" uuid, device text, "startedAt" timestamptz, "endedAt" timestamptz)
    join reading_device d on d.account_id = ${accountId} and d.key = w.device
    left join progress p on p.account_id = ${accountId} and p.book_id = w."bookId"
    cross join (
      select coalesce(${now}::timestamptz, statement_timestamp()) as now,
        make_interval(secs => ${sittingGapMs / 1000 + roundingSeconds}) as gap) t
    -- A future time is moved to now, and a write without a time is the newest.
    cross join lateral (
      select coalesce(w."endedAt", greatest(t.now, p.updated_at)) as ended_at,
        greatest(w."endedAt" - t.now, interval '0') as ahead) c
    cross join lateral (
      select w."bookId" as book_id,
        coalesce(w."startedAt", c.ended_at) - c.ahead - t.gap as low, c.ended_at + t.gap as high) w2
    cross join lateral (
      with position as (
        select r.* from reading_session r
        where ${ofDevice} and not r.is_session and r.ended_at >= w2.low and r.started_at <= w2.high)
      select * from position
      union all
      select r.* from reading_session r
      where ${ofDevice} and r.is_session
        and r.ended_at >= least(w2.low, (select min(started_at) from position) - t.gap)
        and r.started_at <= greatest(w2.high, (select max(ended_at) from position) + t.gap)) near`
  return rows.map(toEntry)
}

/** Which entries of a book to load: all that end at or after a time in ms since 1970. */
export type EntriesSince = { bookId: string; since: number | null }

export async function entriesSince(
  tx: Queryable,
  accountId: string,
  books: readonly EntriesSince[],
): Promise<Entry[]> {
  const wanted = books.map(({ bookId, since }) => ({
    book: bookId,
    since: since === null ? '-infinity' : new Date(since),
  }))
  const rows = await tx<Row[]>`
    select ${entryColumns(tx, 'r')}
    from jsonb_to_recordset(${tx.json(wanted as never)}) as w(book uuid, since timestamptz)
    join reading_session r on r.account_id = ${accountId} and r.book_id = w.book
      and r.ended_at >= w.since`
  return rows.map(toEntry)
}

/** The ids of which the account already has entries. */
export async function knownEntries(
  tx: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from reading_session
    where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

/** Inserts entries, or replaces those with the same ids. */
export async function storeEntries(tx: Transaction, accountId: string, entries: readonly Entry[]) {
  if (entries.length === 0) return
  const rows = entries.map(({ restartedAt, completedAt, ...entry }) => ({
    ...{ id: entry.id, book_id: entry.bookId, kind: entry.kind, surface: entry.surface },
    ...{ device: entry.device, is_session: entry.isSession, measured_ms: entry.measuredMs },
    ...{ inferred_ms: entry.inferredMs, pages_read: entry.pagesRead, is_part: entry.isPart },
    ...{ page: entry.page, percentage: entry.percentage },
    ...{ started_at: new Date(entry.startedAt), ended_at: new Date(entry.endedAt) },
    restarted_at: restartedAt.map(at => new Date(at)),
    completed_at: completedAt.map(at => new Date(at)),
  }))
  await tx`
    insert into reading_session (account_id, id, book_id, kind, surface, device, started_at, ended_at,
      is_session, measured_ms, inferred_ms, pages_read, is_part, page, percentage, restarted_at,
      completed_at)
    select ${accountId}, r.*
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(id uuid, book_id uuid, kind text,
      surface text, device integer, started_at timestamptz, ended_at timestamptz, is_session boolean,
      measured_ms bigint, inferred_ms bigint, pages_read integer, is_part boolean, page integer,
      percentage double precision, restarted_at timestamptz[], completed_at timestamptz[])
    on conflict (account_id, id) do update set kind = excluded.kind, surface = excluded.surface,
      started_at = excluded.started_at, ended_at = excluded.ended_at,
      recorded_at = excluded.recorded_at, inferred_ms = excluded.inferred_ms,
      is_part = excluded.is_part, page = excluded.page, percentage = excluded.percentage,
      restarted_at = excluded.restarted_at, completed_at = excluded.completed_at`
}

/** Deletes entries that were merged into others. */
export async function deleteEntries(tx: Transaction, accountId: string, ids: readonly string[]) {
  if (ids.length === 0) return
  await tx`
    delete from reading_session
    where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`
}

export function entryColumns(sql: Queryable, alias: string): Fragment {
  const r = sql(alias)
  return sql`${r}.id, ${r}.book_id as "bookId", ${r}.kind, ${r}.surface, ${r}.device,
    ${r}.started_at as "startedAt", ${r}.ended_at as "endedAt", ${r}.is_session as "isSession",
    ${r}.measured_ms as "measuredMs", ${r}.inferred_ms as "inferredMs",
    ${r}.pages_read as "pagesRead", ${r}.is_part as "isPart", ${r}.page, ${r}.percentage,
    ${r}.restarted_at as "restartedAt", ${r}.completed_at as "completedAt"`
}

function toEntry({ startedAt, endedAt, restartedAt, completedAt, ...row }: Row): Entry {
  return {
    ...row,
    startedAt: startedAt.getTime(),
    endedAt: endedAt.getTime(),
    restartedAt: restartedAt.map(at => at.getTime()),
    completedAt: completedAt.map(at => at.getTime()),
  }
}
