// Reading statistics of an account over a time window: totals, time series, series, formats, devices.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook } from '../accounts/viewer.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { unprepared } from '../store/postgres/statement.ts'

export const granularities = ['day', 'week', 'month'] as const

export type StatisticsRequest = {
  from: Date
  /** Exclusive. */
  to: Date
  granularity: (typeof granularities)[number]
  /** IANA name. */
  timeZone: string
  sort: 'time' | 'pages' | 'completions'
  seriesLimit: number
  /** Whether to include periods in which nothing was read. */
  fill: boolean
}

/** Times in ms. */
type Totals = {
  inferredMs: number
  measuredMs: number
  pagesRead: number
  sessions: number
  booksFinished: number
}

export type Statistics = {
  summary: Totals & {
    books: number
    sessionsWithoutDuration: number
    sessionsWithoutPages: number
  }
  periods: (Totals & { bucket: string })[]
  series: (Totals & { seriesId: string; seriesName: string; books: number })[]
  formats: (Totals & { format: string })[]
  devices: (Totals & { deviceId: string; deviceName: string | null; lastReadAt: string })[]
}

/** Hidden series and deleted books count in everything except `series`. */
export async function readingStatistics(
  sql: Queryable,
  viewer: Viewer,
  request: StatisticsRequest,
): Promise<Statistics> {
  const { granularity, timeZone, seriesLimit, sort, fill } = request
  const totals = totalColumns(sql)
  const order = {
    time: sql`measured_ms + inferred_ms desc, pages_read desc, finished desc`,
    pages: sql`pages_read desc, measured_ms + inferred_ms desc, finished desc`,
    completions: sql`finished desc, measured_ms + inferred_ms desc, pages_read desc`,
  }[sort]
  const local = (at: Fragment) =>
    sql`date_trunc(${granularity}::text, (${at}) at time zone ${timeZone}::text)`
  const buckets = fill
    ? sql`
        right join generate_series(${local(sql`${request.from}::timestamptz`)},
          ${local(sql`${request.to}::timestamptz - interval '1 ms'`)},
          ('1 ' || ${granularity}::text)::interval) as every on every = g.bucket`
    : sql``
  const bucket = fill ? sql`every` : sql`g.bucket`
  const ranked = (last: Fragment, columns: Fragment, rows: Fragment) => sql`
    (select coalesce(jsonb_agg(x.entry order by x.rank), '[]') from (
      select row_number() over (order by ${order}, ${last}) as rank, to_jsonb(e) as entry
      from ${rows} cross join lateral (select ${totals}, ${columns}) e) x)`
  const [row] = await unprepared(sql<Statistics[]>`
    with fact as (${facts(sql, sql`${viewer.accountId}::uuid`, request)}),
    grouped as materialized (
      select grouping(bucket) = 0 as of_bucket, grouping(book_id) = 0 as of_book,
        grouping(device) = 0 as of_device, bucket, book_id, device, ${sums(sql)},
        max(last_at) as last_at
      from (select *, ${local(sql`at`)} as bucket from fact) f
      group by grouping sets ((bucket), (book_id), (device), ())
    ), by_format as (
      select coalesce(b.format, 'unknown') as format, ${sums(sql)}
      from grouped g left join book b on b.id = g.book_id
      where g.of_book
      group by 1
    ), by_series as (
      select s.id, s.title, count(*) as books, ${sums(sql)}
      from grouped g
      join book b on b.id = g.book_id
      join series s on s.id = b.series_id
      where g.of_book and ${visibleBook(sql, viewer)}
      group by s.id
    ), first_series as (
      select * from by_series order by ${order}, title, id limit ${seriesLimit}
    )
    select
      (select to_jsonb(x) from (
        select ${totals}, (select count(*) from grouped where of_book) as books,
          without_duration as "sessionsWithoutDuration", without_pages as "sessionsWithoutPages"
        from grouped where not (of_bucket or of_book or of_device)) x) as summary,
      (select coalesce(jsonb_agg(to_jsonb(x) order by bucket), '[]') from (
        select ${totals}, to_char(${bucket}, 'YYYY-MM-DD') as bucket
        from (select * from grouped where of_bucket) g ${buckets}) x) as periods,
      ${ranked(
        sql`title, id`,
        sql`y.id as "seriesId", y.title as "seriesName", y.books`,
        sql`first_series y`,
      )} as series,
      ${ranked(sql`y.format`, sql`y.format`, sql`by_format y`)} as formats,
      ${ranked(
        sql`d.key`,
        sql`coalesce(d.key, 'legacy') as "deviceId", d.name as "deviceName", y.last_at as "lastReadAt"`,
        sql`(select * from grouped where of_device) y left join reading_device d on d.id = y.device`,
      )} as devices`)
  return row!
}

/** Sittings at their beginning, completions at their time. */
function facts(
  sql: Queryable,
  accountId: Fragment,
  { from, to }: Pick<StatisticsRequest, 'from' | 'to'>,
): Fragment {
  return sql`
    select r.started_at as at, r.book_id, r.device, r.measured_ms, r.inferred_ms, r.pages_read,
      coalesce(r.sittings, (not r.is_part)::integer) as sessions, 0 as finished,
      coalesce(r.unmeasured, (not r.is_part and r.measured_ms is null)::integer) as without_duration,
      coalesce(r.unpaged, (not r.is_part and r.pages_read is null)::integer) as without_pages,
      r.ended_at as last_at
    from reading_session r
    where r.account_id = ${accountId} and r.kind in ('progress', 'completed')
      and r.started_at >= ${from} and r.started_at < ${to}
    union all
    select p.completed_at, p.book_id, p.device, null, null, null, 0, 1, 0, 0, p.completed_at
    from reading_pass p
    where p.account_id = ${accountId} and p.completed_at >= ${from} and p.completed_at < ${to}`
}

/** Sums of facts, or of such sums. The sum of bigint would be numeric. */
const sums = (sql: Queryable) => sql`
  coalesce(sum(measured_ms), 0)::bigint as measured_ms,
  coalesce(sum(inferred_ms), 0)::bigint as inferred_ms,
  coalesce(sum(pages_read), 0)::bigint as pages_read, coalesce(sum(sessions), 0)::bigint as sessions,
  coalesce(sum(finished), 0)::bigint as finished,
  coalesce(sum(without_duration), 0)::bigint as without_duration,
  coalesce(sum(without_pages), 0)::bigint as without_pages`

const totalColumns = (sql: Queryable) => sql`
  coalesce(measured_ms, 0) as "measuredMs", coalesce(inferred_ms, 0) as "inferredMs",
  coalesce(pages_read, 0) as "pagesRead", coalesce(sessions, 0) as sessions,
  coalesce(finished, 0) as "booksFinished"`

/** The start of a day (`yyyy-mm-dd`) in a time zone. */
export async function localTime(sql: Queryable, day: string, timeZone: string): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    select ${day}::timestamp at time zone ${timeZone}::text as at`
  return row!.at
}

/** When the account first and last read; null if nothing was recorded. */
export async function readingCoverage(
  sql: Queryable,
  accountId: string,
): Promise<{ firstReadAt: Date | null; lastReadAt: Date | null }> {
  // A sitting that began before the last one may end after it, by at most the length of a session.
  const [row] = await sql<{ firstReadAt: Date | null; lastReadAt: Date | null }[]>`
    with sitting as (
      select min(started_at) as first, max(started_at) as last from reading_session
      where account_id = ${accountId} and kind in ('progress', 'completed')
    ), pass as (
      select min(completed_at) as first, max(completed_at) as last from reading_pass
      where account_id = ${accountId}
    )
    select least(s.first, p.first) as "firstReadAt", greatest(p.last, (
      select max(r.ended_at) from reading_session r
      where r.account_id = ${accountId} and r.kind in ('progress', 'completed')
        and r.started_at >= s.last - interval '7 days')) as "lastReadAt"
    from sitting s, pass p`
  return row!
}

export type ReadingTotals = Totals & { accounts: number; books: number }

/** Totals of all accounts, without books or names. */
export async function readingTotals(
  sql: Queryable,
  window: Pick<StatisticsRequest, 'from' | 'to'>,
): Promise<ReadingTotals> {
  const [row] = await unprepared(sql<ReadingTotals[]>`
    select ${totalColumns(sql)}, accounts, books
    from (
      select ${sums(sql)}, count(distinct f.account_id) as accounts, count(distinct f.book_id) as books
      from account a
      cross join lateral (
        select a.id as account_id, fact.* from (${facts(sql, sql`a.id`, window)}) fact) f) x`)
  return row!
}
