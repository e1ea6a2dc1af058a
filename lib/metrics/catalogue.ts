// Libraries, from the counters that their rows keep: nothing is counted when a scraper asks.
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { bounded, kept } from './cached-gauge.ts'
import type { Family } from './registry.ts'
import { forgetLibraries } from './scan.ts'

const patienceMs = 2_000

type Row = {
  id: string
  books: number
  series: number
  pages: number
  bytes: number
  missing: number
  schedule: string | null
  zone: string | null
  scannedAt: number | null
  seconds: number | null
  state: string | null
  watch: string | null
}

/** Gauges of every library that is not being removed; without values when the database does not answer. */
export async function catalogueFamilies(sql: Sql): Promise<Family[]> {
  const [rows, broken] = await Promise.all([look(sql), brokenBooks(sql)])
  if (rows) forgetLibraries(new Set(rows.map(row => row.id)))
  const of = (name: string, help: string, value: (row: Row) => number | null): Family => ({
    name,
    help,
    type: 'gauge',
    values: (rows ?? []).flatMap(row => {
      const figure = value(row)
      return figure === null ? [] : [{ labels: { library: row.id }, value: figure }]
    }),
  })
  return [
    of('library_books', 'Books that are not missing.', row => row.books),
    of('library_series', 'Series that have such books.', row => row.series),
    of('library_pages', 'Pages of these books.', row => row.pages),
    of('library_bytes', 'Bytes of these books.', row => row.bytes),
    of('library_books_missing', 'Books whose files are not there any more.', row => row.missing),
    of(
      'library_books_error',
      'Books that cannot be read; a minute old at most, or as dear as it is.',
      row => (broken ? (broken.get(row.id) ?? 0) : null),
    ),
    of(
      'library_last_scan_timestamp_seconds',
      'When a scan last went through.',
      row => row.scannedAt,
    ),
    of('library_last_scan_duration_seconds', 'How long the latest scan took.', row => row.seconds),
    of('library_available', 'Whether the folder was there at the latest scan.', row =>
      row.state === null ? null : Number(row.state !== 'unavailable'),
    ),
    of(
      'library_scan_braked',
      '1 while the latest scan missed so much that it marked nothing; of other libraries nothing.',
      row => (row.state === 'unconfirmed' ? 1 : null),
    ),
    of('library_scan_interval_seconds', 'Longest time between scans by the schedule.', row =>
      row.schedule === null ? null : interval(row.schedule, row.zone),
    ),
    {
      name: 'watcher_state',
      help: 'Always 1; the mode says how the folder is watched.',
      type: 'gauge',
      values: (rows ?? []).map(({ id, watch }) => ({
        labels: { library: id, mode: watch ?? 'off' },
        value: 1,
      })),
    },
  ]
}

const look = bounded(
  (sql: Sql) => sql<Row[]>`
    select l.id, l.book_count as books, l.series_count as series, l.page_count as pages,
      l.size as bytes, l.missing_count as missing,
      case when l.is_active and l.scanning_config @> '{"enabled": true}'
        then l.scanning_config->>'cronSchedule' end as schedule,
      l.scanning_config->>'cronTimezone' as zone,
      extract(epoch from l.last_scanned_at)::float8 as "scannedAt",
      extract(epoch from s.finished_at - s.started_at)::float8 as seconds, s.state, w.mode as watch
    from library l
    left join lateral (
      select state, started_at, finished_at from scan
      where library_id = l.id and finished_at is not null and not options @> '{"analysis": true}'
      order by created_at desc, id desc
      limit 1
    ) s on true
    left join library_watch w
      on w.library_id = l.id and w.seen_at > now() - interval '90 seconds'
    where l.deleting_at is null
    order by l.id`,
  patienceMs,
)

/** By library. Found through an index, but each is looked at. */
const brokenBooks = kept(
  async (sql: Sql) => {
    const rows = await sql<{ id: string; books: number }[]>`
      select library_id as id, count(*)::integer as books from book
      where error_code is not null and missing_at is null
      group by library_id`
    return new Map(rows.map(row => [row.id, row.books]))
  },
  { forMs: 60_000 },
)

const intervals = new LRUCache<string, number>({ max: 1_000, ttl: 86_400_000 })
const looksAhead = 10

/** Seconds; of a schedule that is not even, the longest of the next. */
function interval(schedule: string, zone: string | null): number | null {
  const key = `${schedule} ${zone}`
  const known = intervals.get(key)
  if (known !== undefined) return known
  try {
    const runs = new Cron(schedule, { paused: true, ...(zone ? { timezone: zone } : {}) }).nextRuns(
      looksAhead,
    )
    const gaps = runs.slice(1).map((run, i) => (run.getTime() - runs[i]!.getTime()) / 1000)
    if (gaps.length === 0) return null
    const longest = Math.max(...gaps)
    intervals.set(key, longest)
    return longest
  } catch {
    return null
  }
}
