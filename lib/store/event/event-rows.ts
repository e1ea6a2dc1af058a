// Reads pages of rows from the `event` table, ordered by number, which is also commit order.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Audience } from './publish.ts'

export type Stream = 'entity' | 'task' | 'scan'

/** `count` events; `number` belongs to the last one. */
export type EventRow = {
  number: number
  stream: Stream
  type: string
  count: number
  libraryId: string | null
  seriesIds: string[] | null
  bookIds: string[] | null
  fields: string[] | null
  accountId: string | null
  data: Record<string, unknown> | null
  audience: Audience | null
  at: Date
}

/** Rows after a position. The stream has no rows between the last of them and `upTo`. */
export type EventPage = {
  rows: readonly EventRow[]
  upTo: number
  /** More rows may follow. */
  isFull: boolean
  /** Rows after the position have already been deleted. */
  isExpired: boolean
}

/**
 * Numbers of the last deleted event and the last event in the table, and the highest number ever assigned.
 */
export type EventBounds = { pruned: number; tail: number; lastAssigned: number }

/** Key in `setting` for the number up to which events have been deleted. */
export const prunedSettingKey = 'events_pruned'

/** Limits of a page, which bound the memory of each reader. */
export const pageLimits = { rows: 200, events: 2_000 }

const flushPollMs = 10
const maxFlushMs = 1_000

/** The bounds as currently committed. */
export async function readBounds(sql: Sql): Promise<EventBounds> {
  const [row] = await sql<EventBounds[]>`
    select pruned, tail, (
      select case when is_called then last_value else 0 end
      from event_number_sequence) as "lastAssigned"
    from ${bounds(sql)}`
  return row!
}

/** The next rows of one stream, or of all streams, once they are safe from a server crash. */
export async function readRowsAfter(
  sql: Sql,
  position: number,
  stream: Stream | null = null,
): Promise<EventPage> {
  const rows = await sql<(EventRow & EventBounds & { available: number; lsn: string | null })[]>`
    select case when pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()
        then pg_current_wal_insert_lsn()::text end as lsn,
      bounds.pruned, bounds.tail, e.number, e.stream, e.type, e.count,
      e.library_id as "libraryId", e.series_ids as "seriesIds", e.book_ids as "bookIds", e.fields,
      e.account_id as "accountId", e.data, e.audience, e.created_at as at, e.available
    from ${bounds(sql)}
    left join lateral (
      select *
      from (
        select *, sum(count) over (order by number) as running_count, count(*) over () as available
        from (
          select *
          from event
          where number > ${position} and ${stream === null ? sql`true` : sql`stream = ${stream}`}
          order by number
          limit ${pageLimits.rows}
        ) next
      ) counted
      where running_count - count < ${pageLimits.events}
    ) e on true
    order by e.number`
  const { pruned, tail, available } = rows[0]!
  const present = rows[0]!.number === null ? [] : rows
  if (present.length > 0 && rows[0]!.lsn) await untilFlushed(sql, rows[0]!.lsn)
  const isFull = available === pageLimits.rows || present.length < available
  return {
    rows: present,
    upTo: isFull ? present.at(-1)!.number : Math.max(tail, position),
    isFull,
    isExpired: position < pruned,
  }
}

/**
 * Background work commits before its WAL is on disk. An event that a crash undoes must not have been sent:
 * its book would be created again with another id.
 */
async function untilFlushed(sql: Sql, lsn: string) {
  const deadline = performance.now() + maxFlushMs
  // At the end of a WAL page the positions differ by the page header until more WAL follows.
  while (performance.now() < deadline) {
    await sleep(flushPollMs)
    const [row] = await sql`select pg_current_wal_flush_lsn() >= ${lsn}::pg_lsn as "isFlushed"`
    if (row!.isFlushed) return
  }
}

// Named, because PostgreSQL 14 and 15 require it. In the same snapshot as the rows, so that a row pruned at
// the same time is either read or reported.
const bounds = (sql: Sql) => sql`(
  select pruned, greatest(pruned, (select max(number) from event)) as tail
  from (
    select coalesce((
      select (value #>> '{}')::bigint from setting where key = ${prunedSettingKey}), 0) as pruned
  ) stored
) bounds`
