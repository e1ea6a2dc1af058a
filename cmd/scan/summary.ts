// The figures of a scan, as an object and as a table.
import type { Stackroom } from '../context.ts'

export type Figures = {
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

export async function loadFigures(sql: Stackroom['sql'], scanId: string): Promise<Figures> {
  const [row] = await sql<Figures[]>`
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
  return row!
}

function seconds(sql: Stackroom['sql'], from: string, to: string) {
  return sql`coalesce(extract(epoch from s.${sql(to)} - s.${sql(from)}), 0)::float8`
}

function failures(figures: Figures) {
  return Object.values(figures.failed).reduce((sum, n) => sum + n, 0)
}

/** The object of `scan --json`. Seconds are wall time; stages overlap. */
export function jsonSummary(f: Figures) {
  const known = f.added + f.changed + f.moved + f.restored + failures(f)
  const round = (n: number) => Math.round(n * 1000) / 1000
  return {
    found: f.found,
    new: f.added,
    changed: f.changed,
    moved: f.moved,
    missing: f.missing,
    restored: f.restored,
    unchanged: Math.max(0, f.found - known),
    unreadableDirectories: f.unreadable,
    failed: f.failed,
    warnings: f.warnings,
    series: f.series,
    bytesRead: f.bytesRead,
    opens: f.opens,
    seconds: {
      discover: round(f.discoverSeconds),
      extract: round(f.extractSeconds),
      thumbnail: round(f.thumbnailSeconds),
      hash: round(f.hashSeconds),
      dedupe: round(f.dedupeSeconds),
      total: round(f.totalSeconds),
    },
    booksPerSecond: round(f.found / Math.max(f.totalSeconds, 0.001)),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    state: f.state,
    message: f.message,
  }
}

/** 0 done, 1 some files failed, 2 the scan could not do its work. */
export function exitCodeOf(f: Figures) {
  if (f.state !== 'completed') return 2
  return failures(f) > 0 ? 1 : 0
}

export function tableSummary(library: { name: string }, f: Figures): string {
  const s = jsonSummary(f)
  const rows: [string, string | number][] = [
    ['found', s.found],
    ['new', s.new],
    ['changed', s.changed],
    ['moved', s.moved],
    ['missing', s.missing],
    ['restored', s.restored],
    ['unchanged', s.unchanged],
    ['failed', failures(f)],
    ...Object.entries(f.failed).map(([code, n]): [string, number] => [`  ${code}`, n]),
    ['warnings', s.warnings],
    ['unreadable folders', s.unreadableDirectories],
    ['series', s.series],
    ['read', bytesText(s.bytesRead)],
    ['files opened', s.opens],
    ['seconds', `${s.seconds.total.toFixed(1)} (${s.booksPerSecond.toFixed(0)} books/s)`],
    ['peak memory', bytesText(s.peakRssBytes)],
  ]
  const lines = rows.map(([name, value]) => `  ${name.padEnd(20)}${String(value).padStart(12)}`)
  return `${library.name}: ${f.state}\n${lines.join('\n')}\n`
}

function bytesText(bytes: number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
