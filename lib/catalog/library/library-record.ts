// Library record of the API, with counters of what the viewer may see.
import {
  hidesBooks,
  isLimited,
  presentBeyondAge,
  unseenSeries,
  type Viewer,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { parseCron } from '../../base/cron.ts'
import { NotFound } from '../../base/errors.ts'
import { pathText } from '../../base/path.ts'
import {
  component,
  count,
  json,
  list,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { readingDirections } from '../../media/metadata/values.ts'
import { bookStrategies } from '../../media/strategy/book.ts'
import { numberStrategies } from '../../media/strategy/number.ts'
import { seriesStrategies } from '../../media/strategy/series.ts'
import { mountHealth, mountKey } from '../../store/mount/mount-health.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isVisible } from './library.ts'
import {
  readScanningConfig,
  type ScanningConfig as StoredConfig,
  type StoredScanningConfig,
  StrategyConfig,
  scanModes,
  watchModes,
} from './library-settings.ts'

const mode = oneOf(scanModes)
const ScanningConfig = component('ScanningConfig', {
  enabled: Type.Boolean(),
  scanMode: mode,
  defaultMode: mode,
  cronSchedule: nullable(Type.String()),
  cronTimezone: nullable(Type.String()),
  scanOnStart: Type.Boolean(),
  purgeDeletedOnScan: Type.Boolean(),
  watch: oneOf(watchModes),
})
const ScanningConfigSnake = component('ScanningConfigSnakeCase', {
  enabled: Type.Boolean(),
  default_mode: mode,
  cron_schedule: nullable(Type.String()),
  cron_timezone: nullable(Type.String()),
  scan_on_start: Type.Boolean(),
  purge_deleted_on_scan: Type.Boolean(),
  watch: oneOf(watchModes),
})
const WatchState = component('WatchState', {
  mode: oneOf(['off', 'watching', 'polling'], {
    description: 'Current mode; also `off` while no process is running that could watch.',
  }),
  message: nullable(
    Type.String({ description: 'Why the current mode differs from the configured one.' }),
  ),
  since: nullable(timestamp()),
})

export const Library = component('Library', {
  id: uuid(),
  name: Type.String(),
  path: Type.String({
    description: 'Absolute path on the server; empty without LibrariesWrite.',
  }),
  description: nullable(Type.String()),
  isActive: Type.Boolean(),
  isResponding: Type.Boolean({
    description:
      'False while the folder does not respond: pages and downloads then return 503, and scans wait.',
  }),
  defaultReadingDirection: oneOf(readingDirections),
  allowedFormats: nullable(list(Type.String())),
  excludedPatterns: nullable(Type.String({ description: 'One glob per line.' })),
  followLinks: Type.Boolean({ description: 'Whether files that are symbolic links are read.' }),
  seriesStrategy: oneOf(seriesStrategies),
  seriesConfig: StrategyConfig,
  bookStrategy: oneOf(bookStrategies),
  bookConfig: StrategyConfig,
  numberStrategy: oneOf(numberStrategies),
  numberConfig: StrategyConfig,
  strategiesChanged: Type.Boolean({
    description:
      'Whether the next scan groups the books by changed strategies and reads all files.',
  }),
  scanningConfig: nullable(ScanningConfig),
  scanning_config: nullable(ScanningConfigSnake),
  watchState: WatchState,
  titlePreprocessingRules: list(
    record({
      pattern: Type.String(),
      replacement: Type.String(),
      description: nullable(Type.String()),
      enabled: Type.Boolean(),
    }),
  ),
  autoMatchConditions: nullable(
    record({
      mode: Type.String(),
      rules: list(Type.Object({ field: Type.String(), operator: Type.String(), value: json() })),
    }),
  ),
  bookCount: count({ description: 'Books that are not missing.' }),
  seriesCount: count(),
  lastScannedAt: nullable(timestamp()),
  nextScanAt: nullable(timestamp({ description: 'Time of the next scheduled scan.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type Library = Static<typeof Library>

type Rule = { pattern: string; replacement: string; description?: string | null; enabled: boolean }
type Condition = { field: string; operator: string; value?: unknown }
type Row = Omit<
  Library,
  | 'path'
  | 'isResponding'
  | 'nextScanAt'
  | 'scanningConfig'
  | 'scanning_config'
  | 'titlePreprocessingRules'
  | 'autoMatchConditions'
> & {
  root: Buffer
  scanning: StoredScanningConfig
  /** For schedules without their own. */
  timeZone: string | null
  titleRules: Rule[]
  autoMatch: { mode: string; rules: Condition[] } | null
}

/** One page of the visible libraries, by name, and their total. */
export async function listLibraries(
  sql: Queryable,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: Library[]; total: number }> {
  const rows = await sql<Row[]>`
    ${select(sql, viewer)}
    where ${isVisible(sql, viewer)}
    order by lower(l.name), l.id
    limit ${pageSize} offset ${offset}`
  const [count] = await sql<{ total: number }[]>`
    select count(*)::integer as total from library l where ${isVisible(sql, viewer)}`
  return { data: rows.map(toRecord), total: count!.total }
}

/** Throws NotFound for an unknown library, or one hidden from the viewer. */
export async function libraryById(sql: Queryable, viewer: Viewer, id: string): Promise<Library> {
  const [row] = await sql<Row[]>`
    ${select(sql, viewer)} where l.id = ${id} and ${isVisible(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
  return toRecord(row)
}

function select(sql: Queryable, viewer: Viewer) {
  return sql`
    select l.id, l.name, l.root, l.description, l.is_active as "isActive",
      l.default_reading_direction as "defaultReadingDirection",
      l.allowed_formats as "allowedFormats",
      nullif(l.excluded_patterns, '') as "excludedPatterns", l.follow_links as "followLinks",
      case l.series_strategy when 'default' then 'series_volume' else l.series_strategy end
        as "seriesStrategy",
      l.series_config as "seriesConfig", l.book_strategy as "bookStrategy",
      l.book_config as "bookConfig", l.number_strategy as "numberStrategy",
      l.number_config as "numberConfig", l.strategies_changed as "strategiesChanged", l.scanning_config as scanning,
      (select value #>> '{}' from setting where key = 'scheduler.timezone') as "timeZone",
      l.title_preprocessing_rules as "titleRules", l.auto_match_conditions as "autoMatch",
      ${watchState(sql)} as "watchState",
      v.books as "bookCount", v.series as "seriesCount", l.last_scanned_at as "lastScannedAt",
      l.created_at as "createdAt", l.updated_at as "updatedAt"
    from library l
    cross join lateral ${visibleCounts(sql, viewer)} v`
}

// The watching process renews the row several times a minute (pipeline/watch); a stale row is ignored.
function watchState(sql: Queryable) {
  return sql`coalesce(
    (select jsonb_build_object('mode', w.mode, 'message', w.message, 'since', w.since)
      from library_watch w
      where w.library_id = l.id and w.seen_at > now() - interval '90 seconds'),
    '{"mode": "off", "message": null, "since": null}')`
}

/** Columns `books` and `series` for `library l`: the stored counters for a viewer who sees all of it, otherwise counts. */
export function visibleCounts(sql: Queryable, viewer: Viewer) {
  if (!isLimited(viewer)) return sql`(select l.book_count as books, l.series_count as series)`
  return sql`(
    select (coalesce(sum(s.book_count), 0) - ${tooOldBookCount(sql, viewer)})::float8 as books,
      count(*)::float8 as series
    from series s
    where s.library_id = l.id and s.book_count > 0 and ${visibleSeries(sql, viewer)})`
}

/** Number of books in visible series that their own age rating hides. */
function tooOldBookCount(sql: Queryable, viewer: Viewer) {
  if (!hidesBooks(viewer)) return sql`0`
  return sql`(
    select count(*) from book b
    where b.library_id = l.id and ${presentBeyondAge(sql, viewer)}
      and (b.series_id in (${unseenSeries(sql, visibleSeries(sql, viewer))})) is not true)`
}

function toRecord({ root, scanning, timeZone, ...rest }: Row): Library {
  const { titleRules, autoMatch, allowedFormats, ...row } = rest
  const config = readScanningConfig(scanning)
  const { since, ...watchState } = row.watchState
  return {
    ...row,
    watchState: { ...watchState, since: since && new Date(since) },
    path: pathText(root),
    isResponding: !mountHealth.isHung(mountKey(root)),
    nextScanAt: config && row.isActive ? nextScan(config, timeZone) : null,
    allowedFormats: allowedFormats?.map(name => name.toUpperCase()) ?? null,
    scanningConfig: config && { ...config, defaultMode: config.scanMode },
    scanning_config: config && {
      enabled: config.enabled,
      default_mode: config.scanMode,
      cron_schedule: config.cronSchedule,
      cron_timezone: config.cronTimezone,
      scan_on_start: config.scanOnStart,
      purge_deleted_on_scan: config.purgeDeletedOnScan,
      watch: config.watch,
    },
    titlePreprocessingRules: titleRules.map(rule => ({
      ...rule,
      description: rule.description ?? null,
    })),
    autoMatchConditions: autoMatch && {
      ...autoMatch,
      rules: autoMatch.rules.map(rule => ({ ...rule, value: rule.value ?? null })),
    },
  }
}

/** Null without a schedule. */
function nextScan(config: StoredConfig, timeZone: string | null): Date | null {
  const { enabled, cronSchedule, cronTimezone } = config
  if (!enabled || !cronSchedule) return null
  try {
    return parseCron(cronSchedule, cronTimezone || timeZone || null).nextRun()
  } catch {
    // The scheduler logs the error.
    return null
  }
}
