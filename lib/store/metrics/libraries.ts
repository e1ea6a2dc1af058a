// Library metrics, read from counters in the library rows: a scrape counts nothing.
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { mountHealth, mountKey } from '../mount/mount-health.ts'
import type { Services } from '../services.ts'
import { cachedQuery, timeLimitedQuery } from './cached-query.ts'
import { removeOtherLibraries } from './pipeline.ts'
import { family, type MetricFamily } from './registry.ts'

const queryTimeoutMs = 2_000

type Row = {
  id: string
  root: Uint8Array
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
  unreadableFolders: number | null
  watch: string | null
}

/** Gauges of all libraries that are not being deleted; without values if the database does not respond. */
export async function libraryFamilies(services: Services): Promise<MetricFamily[]> {
  const [rows, unreadable] = await Promise.all([
    services(loadLibraries)(),
    services(countUnreadable)(),
  ])
  if (rows) removeOtherLibraries(new Set(rows.map(row => row.id)))
  const gauge = (name: string, help: string, measure: (row: Row) => number | null) => {
    const samples = rows?.flatMap(row => {
      const value = measure(row)
      return value === null ? [] : [{ labels: { library: row.id }, value }]
    })
    return family('gauge', name, [help, samples])
  }
  return [
    gauge('library_books', 'Books, excluding missing ones.', row => row.books),
    gauge('library_series', 'Series with such books.', row => row.series),
    gauge('library_pages', 'Pages of these books.', row => row.pages),
    gauge('library_bytes', 'Size of these books.', row => row.bytes),
    gauge('library_books_missing', 'Books whose files are missing.', row => row.missing),
    gauge('library_books_error', 'Unreadable books; cached for a minute or longer.', row =>
      unreadable ? (unreadable.get(row.id) ?? 0) : null,
    ),
    gauge(
      'library_last_scan_timestamp_seconds',
      'Time of the last completed scan.',
      row => row.scannedAt,
    ),
    gauge('library_last_scan_duration_seconds', 'Duration of the latest scan.', row => row.seconds),
    gauge(
      'library_available',
      'Whether the folder was available at the latest scan, and responds now.',
      availability,
    ),
    gauge(
      'library_unreadable_folders',
      'Folders that could not be read at the latest scan.',
      row => row.unreadableFolders,
    ),
    gauge(
      'library_scan_braked',
      '1 if the latest scan found too many books missing and needs confirmation; otherwise absent.',
      row => (row.state === 'unconfirmed' ? 1 : null),
    ),
    gauge('library_scan_interval_seconds', 'Longest interval between scheduled scans.', row =>
      row.schedule === null ? null : longestInterval(row.schedule, row.zone),
    ),
    family('gauge', 'watcher_state', [
      'Always 1; the label `mode` states how the folder is watched.',
      rows?.map(({ id, watch }) => ({ labels: { library: id, mode: watch ?? 'off' }, value: 1 })),
    ]),
  ]
}

const availability = ({ root, state }: Row): number | null => {
  if (mountHealth.isHung(mountKey(root))) return 0
  return state === null ? null : Number(state !== 'unavailable')
}

const loadLibraries = timeLimitedQuery(
  (sql: Sql) => sql<Row[]>`
    select l.id, l.root, l.book_count as books, l.series_count as series, l.page_count as pages,
      l.size as bytes, l.missing_count as missing,
      case when l.is_active and l.scanning_config @> '{"enabled": true}'
        then l.scanning_config->>'cronSchedule' end as schedule,
      l.scanning_config->>'cronTimezone' as zone,
      extract(epoch from l.last_scanned_at)::float8 as "scannedAt",
      extract(epoch from s.finished_at - s.started_at)::float8 as seconds, s.state,
      s.unreadable_directories as "unreadableFolders", w.mode as watch
    from library l
    left join lateral (
      select state, started_at, finished_at, unreadable_directories from scan
      where library_id = l.id and finished_at is not null and not options @> '{"analysis": true}'
      order by number desc
      limit 1
    ) s on true
    left join library_watch w
      on w.library_id = l.id and w.seen_at > now() - interval '90 seconds'
    where l.deleting_at is null
    order by l.id`,
  queryTimeoutMs,
)

/** By library. Uses an index, but reads every unreadable book. */
const countUnreadable = cachedQuery(
  async (sql: Sql) => {
    const rows = await sql<{ id: string; books: number }[]>`
      select library_id as id, count(*)::integer as books from book
      where error_code is not null and missing_at is null
      group by library_id`
    return new Map(rows.map(row => [row.id, row.books]))
  },
  { minAgeMs: 60_000 },
)

const intervals = new LRUCache<string, number>({ max: 1_000, ttl: 86_400_000 })
const runsToCompare = 10

/** In seconds; the longest upcoming interval if they differ. */
function longestInterval(schedule: string, zone: string | null): number | null {
  const key = `${schedule} ${zone}`
  const cached = intervals.get(key)
  if (cached !== undefined) return cached
  try {
    const runs = new Cron(schedule, { paused: true, ...(zone ? { timezone: zone } : {}) }).nextRuns(
      runsToCompare,
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
