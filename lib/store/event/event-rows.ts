// Event table reader: pages of rows of `event` in the order of their numbers, which is the order of their
// commits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Audience } from './publish.ts'

export type Stream = 'entity' | 'task' | 'scan'

/** `count` events; the number of the last one is `number`. */
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

/** Rows after a position. No row of the stream lies between the last of them and `upTo`. */
export type EventPage = {
  rows: readonly EventRow[]
  upTo: number
  /** More rows may follow. */
  isFull: boolean
  /** Rows after the position were already deleted. */
  isExpired: boolean
}

/** Numbers: of the last deleted event, of the last event in the table, and the highest ever assigned. */
export type EventBounds = { pruned: number; tail: number; lastAssigned: number }

/** The row of `setting` that stores the number up to which events were deleted. */
export const prunedSettingKey = 'events_pruned'

/** Limits of a page, which bound the memory of each reader. */
export const pageLimits = { rows: 200, events: 2_000 }

const flushPollMs = 10
const maxFlushMs = 1_000

/** The bounds of what is committed now. */
export async function readBounds(sql: Sql): Promise<EventBounds> {
  const [row] = await sql<EventBounds[]>`
    select pruned, tail, (
      select case when is_called then last_value else 0 end
      from event_number_sequence) as "lastAssigned"
    from ${bounds(sql)}`
  return row!
}

/** The next rows of a stream, or of all streams, as soon as they are safe from a crash of the server. */
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
 * Background work commits before its log is on disk. An event of it that a crash takes back must not have been
 * sent: its book would be created again with another id.
 */
async function untilFlushed(sql: Sql, lsn: string) {
  const deadline = performance.now() + maxFlushMs
  // At the end of a page of the log the positions differ by its header until something follows.
  while (performance.now() < deadline) {
    await sleep(flushPollMs)
    const [row] = await sql`select pg_current_wal_flush_lsn() >= ${lsn}::pg_lsn as "isFlushed"`
    if (row!.isFlushed) return
  }
}

// Named, as PostgreSQL 14 and 15 require. In the same snapshot as the rows, so that a row pruned at the same time is either read or reported.
const bounds = (sql: Sql) => sql`(
  select pruned, greatest(pruned, (select max(number) from event)) as tail
  from (
    select coalesce((
      select (value #>> '{}')::bigint from setting where key = ${prunedSettingKey}), 0) as pruned
  ) stored
) bounds`
