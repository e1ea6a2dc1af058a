// A library as it is shown to a viewer.
import type { Sql, TransactionSql } from 'postgres'
import { isUnrestricted, seesLibrary, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { readingDirections } from '../../metadata/metadata.ts'
import { pathText } from '../../path.ts'
import {
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
} from '../../schema.ts'
import { bookStrategies } from '../../strategy/book.ts'
import { numberStrategies } from '../../strategy/number.ts'
import { seriesStrategies } from '../../strategy/series.ts'
import {
  type StoredScanning,
  StrategyConfig,
  scanModes,
  storedScanning,
  watchModes,
} from './library-rules.ts'

const mode = oneOf(scanModes)
const ScanningConfig = record({
  enabled: Type.Boolean(),
  scanMode: mode,
  defaultMode: mode,
  cronSchedule: nullable(Type.String()),
  cronTimezone: nullable(Type.String()),
  scanOnStart: Type.Boolean(),
  purgeDeletedOnScan: Type.Boolean(),
  watch: oneOf(watchModes),
})
const ScanningConfigSnake = record({
  enabled: Type.Boolean(),
  default_mode: mode,
  cron_schedule: nullable(Type.String()),
  cron_timezone: nullable(Type.String()),
  scan_on_start: Type.Boolean(),
  purge_deleted_on_scan: Type.Boolean(),
  watch: oneOf(watchModes),
})
const WatchState = record({
  mode: oneOf(['off', 'watching', 'polling'], {
    description: 'What is done at the moment; off also when no process works that could.',
  }),
  message: nullable(Type.String({ description: 'Why it is not watched as it was asked for.' })),
  since: nullable(timestamp()),
})

export const Library = record(
  {
    id: uuid(),
    name: Type.String(),
    path: Type.String({ description: 'Absolute, on the server.' }),
    description: nullable(Type.String()),
    isActive: Type.Boolean(),
    defaultReadingDirection: oneOf(readingDirections),
    allowedFormats: nullable(list(Type.String())),
    excludedPatterns: nullable(Type.String({ description: 'A glob a line.' })),
    seriesStrategy: oneOf(seriesStrategies),
    seriesConfig: StrategyConfig,
    bookStrategy: oneOf(bookStrategies),
    bookConfig: StrategyConfig,
    numberStrategy: oneOf(numberStrategies),
    numberConfig: StrategyConfig,
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
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'Library' },
)
export type Library = Static<typeof Library>

type Db = Sql | TransactionSql
type Rule = { pattern: string; replacement: string; description?: string | null; enabled: boolean }
type Condition = { field: string; operator: string; value?: unknown }
type Row = Omit<
  Library,
  'path' | 'scanningConfig' | 'scanning_config' | 'titlePreprocessingRules' | 'autoMatchConditions'
> & {
  root: Buffer
  scanning: StoredScanning
  titleRules: Rule[]
  autoMatch: { mode: string; rules: Condition[] } | null
}

/** The libraries that the viewer sees, by name; all, or a page of them. */
export async function libraries(
  sql: Db,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: Library[]; total: number }> {
  const rows = await sql<Row[]>`
    ${select(sql, viewer)}
    where ${sees(sql, viewer)}
    order by lower(l.name), l.id
    limit ${pageSize} offset ${offset}`
  const [all] = await sql<{ total: number }[]>`
    select count(*)::integer as total from library l where ${sees(sql, viewer)}`
  return { data: rows.map(toRecord), total: all!.total }
}

/** Throws NotFound for a library that is not there or is hidden from the viewer. */
export async function libraryById(sql: Db, viewer: Viewer, id: string): Promise<Library> {
  const [row] = await sql<Row[]>`
    ${select(sql, viewer)} where l.id = ${id} and ${sees(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
  return toRecord(row)
}

const sees = (sql: Db, viewer: Viewer) =>
  sql`(l.deleting_at is null and ${seesLibrary(sql, viewer)})`

function select(sql: Db, viewer: Viewer) {
  return sql`
    select l.id, l.name, l.root, l.description, l.is_active as "isActive",
      l.default_reading_direction as "defaultReadingDirection",
      l.allowed_formats as "allowedFormats",
      nullif(l.excluded_patterns, '') as "excludedPatterns",
      case l.series_strategy when 'default' then 'series_volume' else l.series_strategy end
        as "seriesStrategy",
      l.series_config as "seriesConfig", l.book_strategy as "bookStrategy",
      l.book_config as "bookConfig", l.number_strategy as "numberStrategy",
      l.number_config as "numberConfig", l.scanning_config as scanning,
      l.title_preprocessing_rules as "titleRules", l.auto_match_conditions as "autoMatch",
      ${watchState(sql)} as "watchState",
      v.books as "bookCount", v.series as "seriesCount", l.last_scanned_at as "lastScannedAt",
      l.created_at as "createdAt", l.updated_at as "updatedAt"
    from library l
    cross join lateral ${seen(sql, viewer)} v`
}

// Whoever watches renews its word several times a minute (pipeline/watch/lease.ts).
function watchState(sql: Db) {
  return sql`coalesce(
    (select jsonb_build_object('mode', w.mode, 'message', w.message, 'since', w.since)
      from library_watch w
      where w.library_id = l.id and w.seen_at > now() - interval '90 seconds'),
    '{"mode": "off", "message": null, "since": null}')`
}

/** `books` and `series` of `library l`: counters hold for whoever sees all of it; for others their books are counted. */
export function seen(sql: Db, viewer: Viewer) {
  if (isUnrestricted({ ...viewer, libraries: null }))
    return sql`(select l.book_count as books, l.series_count as series)`
  return sql`(
    select (coalesce(sum(s.book_count), 0) - ${tooOld(sql, viewer)})::float8 as books,
      count(*)::float8 as series
    from series s
    where s.library_id = l.id and s.book_count > 0 and ${seesSeries(sql, viewer)})`
}

/** Books of series that are seen, hidden by a rating of their own. */
function tooOld(sql: Db, viewer: Viewer) {
  if (viewer.ageLimit === null) return sql`0`
  return sql`(
    select count(*) from book b join series s on s.id = b.series_id
    where b.library_id = l.id and b.age_rating > ${viewer.ageLimit} and b.missing_at is null
      and ${seesSeries(sql, viewer)})`
}

function toRecord({ root, scanning, titleRules, autoMatch, allowedFormats, ...row }: Row): Library {
  const config = storedScanning(scanning)
  const { since, ...watching } = row.watchState
  return {
    ...row,
    watchState: { ...watching, since: since && new Date(since) },
    path: pathText(root),
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
