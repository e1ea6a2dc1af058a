// Summary of a scan: statistics from the database, as a JSON object and as a text table.
import { NotFound } from '../../lib/base/errors.ts'
import type { Context } from '../context.ts'

export type ScanStats = {
  state: string
  message: string | null
  found: number
  added: number
  changed: number
  moved: number
  missing: number
  restored: number
  unreadable: number
  failed: Record<string, number>
  warnings: number
  series: number
  toIndex: number
  indexed: number
  toCover: number
  covers: number
  toHash: number
  hashed: number
  bytesRead: number
  opens: number
  discoverSeconds: number
  extractSeconds: number
  thumbnailSeconds: number
  hashSeconds: number
  dedupeSeconds: number
  totalSeconds: number
}

export async function loadScanStats(sql: Context['sql'], scanId: string): Promise<ScanStats> {
  const [row] = await sql<ScanStats[]>`
    select s.state, s.message, s.found, s.added, s.changed, s.moved, s.missing, s.restored,
      s.unreadable_directories as unreadable, s.failed, s.warnings, l.series_count as series,
      s.to_index as "toIndex",
      s.added + s.changed + s.moved + s.restored + s.unchanged + coalesce(
        (select sum(value::integer) from jsonb_each_text(s.failed)), 0)::integer as indexed,
      s.to_cover as "toCover", s.covers, s.to_hash as "toHash", s.hashed,
      s.bytes_read as "bytesRead", s.opens,
      ${seconds(sql, 'started_at', 'discovered_at')} as "discoverSeconds",
      ${seconds(sql, 'started_at', 'indexed_at')} as "extractSeconds",
      ${seconds(sql, 'first_cover_at', 'last_cover_at')} as "thumbnailSeconds",
      ${seconds(sql, 'first_hash_at', 'last_hash_at')} as "hashSeconds",
      0 as "dedupeSeconds",
      extract(epoch from clock_timestamp() - coalesce(s.started_at, s.created_at))::float8 as "totalSeconds"
    from scan s
    join library l on l.id = s.library_id
    where s.id = ${scanId}`
  if (!row) throw new NotFound('The library was deleted during the scan')
  return row
}

function seconds(sql: Context['sql'], from: string, to: string) {
  return sql`coalesce(extract(epoch from s.${sql(to)} - s.${sql(from)}), 0)::float8`
}

function failedCount(stats: ScanStats) {
  return Object.values(stats.failed).reduce((sum, n) => sum + n, 0)
}

/** The object printed by `scan --json`. Seconds are wall time; stages overlap. */
export function jsonSummary(stats: ScanStats) {
  const notUnchanged =
    stats.added + stats.changed + stats.moved + stats.restored + failedCount(stats)
  const round = (n: number) => Math.round(n * 1000) / 1000
  return {
    found: stats.found,
    new: stats.added,
    changed: stats.changed,
    moved: stats.moved,
    missing: stats.missing,
    restored: stats.restored,
    unchanged: Math.max(0, stats.found - notUnchanged),
    unreadableDirectories: stats.unreadable,
    failed: stats.failed,
    warnings: stats.warnings,
    series: stats.series,
    bytesRead: stats.bytesRead,
    opens: stats.opens,
    seconds: {
      discover: round(stats.discoverSeconds),
      extract: round(stats.extractSeconds),
      thumbnail: round(stats.thumbnailSeconds),
      hash: round(stats.hashSeconds),
      dedupe: round(stats.dedupeSeconds),
      total: round(stats.totalSeconds),
    },
    booksPerSecond: round(stats.found / Math.max(stats.totalSeconds, 0.001)),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    state: stats.state,
    message: stats.message,
  }
}

/** 0 success, 1 some files or folders failed, 2 the scan did not complete. */
export function exitCodeOf(stats: ScanStats) {
  if (stats.state !== 'completed') return 2
  return failedCount(stats) + stats.unreadable > 0 ? 1 : 0
}

export function tableSummary(library: { name: string }, stats: ScanStats): string {
  const summary = jsonSummary(stats)
  const rows: [string, string | number][] = [
    ['found', summary.found],
    ['new', summary.new],
    ['changed', summary.changed],
    ['moved', summary.moved],
    ['missing', summary.missing],
    ['restored', summary.restored],
    ['unchanged', summary.unchanged],
    ['failed', failedCount(stats)],
    ...Object.entries(stats.failed).map(([code, n]): [string, number] => [`  ${code}`, n]),
    ['warnings', summary.warnings],
    ['unreadable', summary.unreadableDirectories],
    ['series', summary.series],
    ['read', bytesText(summary.bytesRead)],
    ['files opened', summary.opens],
    [
      'seconds',
      `${summary.seconds.total.toFixed(1)} (${summary.booksPerSecond.toFixed(0)} books/s)`,
    ],
    ['peak memory', bytesText(summary.peakRssBytes)],
  ]
  const lines = rows.map(([name, value]) => `  ${name.padEnd(20)}${String(value).padStart(12)}`)
  return `${library.name}: ${stats.state}\n${lines.join('\n')}\n`
}

function bytesText(bytes: number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
