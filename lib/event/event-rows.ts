// Rows of `event` as readers take them from the table: in the order of their numbers, which is that
// of their commits.
import type { Sql } from 'postgres'
import type { Audience } from './publish.ts'

export type Stream = 'entity' | 'task' | 'scan'

/** `count` events; the number of the last is `number`. See sql/0008_live.sql. */
export type Row = {
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

/** Rows after a position; nothing of the stream lies between the last of them and `upTo`. */
export type Page = {
  rows: readonly Row[]
  upTo: number
  /** More may be there already. */
  isFull: boolean
  /** What came after the position is no longer there. */
  isLost: boolean
}

/** Where the table begins and ends. `ever` is the highest number that was given to any event. */
export type Bounds = { pruned: number; tail: number; ever: number }

/** The row of `setting` that holds the number up to which events were deleted. */
export const prunedKey = 'events_pruned'

/** Bounds of a page, so that whoever holds one holds little. */
export const most = { rows: 200, events: 2_000 }

/** What is committed now. */
export async function bounds(sql: Sql): Promise<Bounds> {
  const [row] = await sql<Bounds[]>`
    select pruned, tail, (
      select case when is_called then last_value else 0 end from event_number_sequence) as ever
    from ${ends(sql)}`
  return row!
}

/** The next rows of a stream, or of all streams. */
export async function rowsAfter(
  sql: Sql,
  position: number,
  stream: Stream | null = null,
): Promise<Page> {
  const rows = await sql<(Row & Bounds & { found: number })[]>`
    select k.pruned, k.tail, e.number, e.stream, e.type, e.count, e.library_id as "libraryId",
      e.series_ids as "seriesIds", e.book_ids as "bookIds", e.fields, e.account_id as "accountId",
      e.data, e.audience, e.at, e.found
    from ${ends(sql)} k
    left join lateral (
      select *
      from (
        select *, sum(count) over (order by number) as so_far, count(*) over () as found
        from (
          select *
          from event
          where number > ${position} and ${stream === null ? sql`true` : sql`stream = ${stream}`}
          order by number
          limit ${most.rows}
        ) n
      ) m
      where so_far - count < ${most.events}
    ) e on true
    order by e.number`
  const { pruned, tail, found } = rows[0]!
  const here = rows[0]!.number === null ? [] : rows
  const isFull = found === most.rows || here.length < found
  return {
    rows: here,
    upTo: isFull ? here.at(-1)!.number : Math.max(tail, position),
    isFull,
    isLost: position < pruned,
  }
}

// One snapshot with the rows beside it: what was pruned is neither in them nor unknown.
const ends = (sql: Sql) => sql`(
  select pruned, greatest(pruned, (select max(number) from event)) as tail
  from (
    select coalesce((
      select (value #>> '{}')::bigint from setting where key = ${prunedKey}), 0) as pruned
  ) p
)`
