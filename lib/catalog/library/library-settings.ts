// Editable settings of a library: request schema, validation and conversion to columns.
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { cronError, isTimeZone } from '../../base/cron.ts'
import { Invalid } from '../../base/errors.ts'
import {
  body,
  list,
  maybe,
  oneOf,
  oneSpelledOf,
  optional,
  type Static,
  Type,
  text,
} from '../../base/schema.ts'
import { ConditionsInput, checkConditions } from '../../match/condition.ts'
import { formatNames } from '../../media/format/formats.ts'
import { readingDirections } from '../../media/metadata/values.ts'
import { bookStrategies, validateBookStrategy } from '../../media/strategy/book.ts'
import { numberStrategies } from '../../media/strategy/number.ts'
import { validateRules } from '../../media/strategy/title-rules.ts'

export const scanModes = ['normal', 'deep'] as const
export const watchModes = ['off', 'on', 'poll'] as const

const ScanningConfigBody = body('ScanningConfigInput', {
  enabled: optional(
    Type.Boolean({
      description: 'Whether the schedule is active; defaults to true if there is one.',
    }),
  ),
  scanMode: optional(
    oneOf(scanModes, { aliases: ['defaultMode', 'default_mode'], default: 'normal' }),
  ),
  cronSchedule: optional(
    text(200, { description: 'Cron expression with five fields, such as `0 3 * * *`.' }),
  ),
  cronTimezone: optional(
    text(100, { description: 'IANA name; defaults to the setting scheduler.timezone.' }),
  ),
  scanOnStart: optional(Type.Boolean({ description: 'Whether to scan when the server starts.' })),
  purgeDeletedOnScan: optional(
    Type.Boolean({ description: 'Whether to delete missing books after a scan.' }),
  ),
  watch: optional(
    oneOf(watchModes, {
      default: 'off',
      description:
        "`on` scans files as soon as they change; `poll` checks the whole folder periodically. The library's `watchState` has the current state.",
    }),
  ),
})

const titleRule = body('TitleRule', {
  pattern: text(1000, { minLength: 1, description: 'RE2 regular expression.' }),
  replacement: text(1000, { description: '`$1` inserts the first group.' }),
  description: optional(text(1000)),
  enabled: maybe(Type.Boolean({ default: true })),
})

/** Configuration of a strategy, which defines the keys. */
export const StrategyConfig = Type.Unsafe<Record<string, unknown>>({
  component: 'StrategyConfig',
  type: 'object',
  additionalProperties: true,
})
const config = optional(StrategyConfig)

/** Fields of a request that creates or updates a library. Null clears a nullable field and leaves any other unchanged. */
export const settingFields = {
  description: optional(text(5000)),
  defaultReadingDirection: optional(oneOf(readingDirections)),
  allowedFormats: optional(
    list(
      oneSpelledOf(
        formatNames.map(name => name.toUpperCase()),
        formatNames,
      ),
      {
        maxItems: 20,
        description: 'Case-insensitive; null or empty for all.',
      },
    ),
  ),
  excludedPatterns: optional(
    text(20_000, {
      description:
        'One glob per line, up to 500; `!name` includes what is excluded by default (hidden files, recycle bins, snapshots).',
    }),
  ),
  followLinks: optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to read files that are symbolic links into the library folder or one of `filesystem.roots`, but never into the data directory. Links to folders are not followed.',
    }),
  ),
  bookStrategy: optional(oneOf(bookStrategies)),
  bookConfig: config,
  numberStrategy: optional(oneOf(numberStrategies)),
  numberConfig: config,
  scanningConfig: optional(ScanningConfigBody),
  titlePreprocessingRules: optional(list(titleRule, { maxItems: 100 })),
  autoMatchConditions: optional(ConditionsInput),
  isActive: optional(Type.Boolean()),
}
const LibrarySettings = Type.Object(settingFields)
export type LibrarySettings = Static<typeof LibrarySettings>

/** A value of a jsonb column, as distinct from a text array. */
export type Jsonb = { json: unknown }
export type Column = string | boolean | string[] | null | Jsonb

type CurrentSettings = { bookStrategy: string; scanning: StoredScanningConfig }
/** The settings of a new library. */
export const initialSettings: CurrentSettings = { bookStrategy: 'metadata_first', scanning: {} }

/**
 * The columns to set, by name. Absent parts of `scanningConfig` stay as in `current`. Throws Invalid for values the
 * schema cannot check.
 */
export function settingColumns(settings: LibrarySettings, current: CurrentSettings) {
  const columns: Record<string, Column | undefined> = {
    description: settings.description,
    default_reading_direction: settings.defaultReadingDirection ?? undefined,
    allowed_formats: parseFormats(settings.allowedFormats),
    excluded_patterns: parsePatterns(settings.excludedPatterns),
    follow_links: settings.followLinks ?? undefined,
    ...bookStrategyColumns(settings, current.bookStrategy),
    number_strategy: settings.numberStrategy ?? undefined,
    number_config: jsonb(settings.numberConfig, {}),
    scanning_config: jsonb(
      settings.scanningConfig && parseScanningConfig(settings.scanningConfig, current.scanning),
      {},
    ),
    title_preprocessing_rules: jsonb(
      settings.titlePreprocessingRules && validateRules(settings.titlePreprocessingRules),
      [],
    ),
    auto_match_conditions:
      settings.autoMatchConditions === null
        ? null
        : jsonb(
            settings.autoMatchConditions &&
              checkConditions(settings.autoMatchConditions, 'autoMatchConditions'),
            null,
          ),
    is_active: settings.isActive ?? undefined,
  }
  const present = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as Record<string, Column>
}

function jsonb(value: unknown, empty: unknown): Jsonb | undefined {
  return value === undefined ? undefined : { json: value ?? empty }
}

/** Changing the strategy resets its configuration: the previous strategy's keys do not apply. */
function bookStrategyColumns({ bookStrategy, bookConfig }: LibrarySettings, current: string) {
  const strategy = bookStrategy ?? current
  if (bookConfig === undefined && strategy === current) return {}
  const config = validateBookStrategy(strategy, bookConfig ?? {})
  return { book_strategy: strategy, book_config: { json: config } }
}

function parseFormats(value: readonly string[] | null | undefined) {
  if (!value) return value
  const names = new Set(value.map(name => name.toLowerCase()))
  const unknown = [...names].find(name => !formatNames.some(format => format === name))
  if (unknown !== undefined)
    throw new Invalid(
      `allowedFormats has an unknown format; known formats: ${formatNames.join(', ')}`,
    )
  // Clients send an empty list for "all formats"; taken literally it would empty the library.
  return names.size === 0 ? null : formatNames.filter(name => names.has(name))
}

function parsePatterns(value: string | null | undefined) {
  if (!value) return value === undefined ? undefined : ''
  const lines = value.split(/\r?\n/)
  if (lines.length > 500) throw new Invalid('excludedPatterns has more than 500 lines')
  if (lines.some(line => line.length > 1000))
    throw new Invalid('A line of excludedPatterns is longer than 1000 characters')
  return value
}

export type ScanningConfig = {
  enabled: boolean
  scanMode: (typeof scanModes)[number]
  cronSchedule: string | null
  cronTimezone: string | null
  scanOnStart: boolean
  purgeDeletedOnScan: boolean
  watch: (typeof watchModes)[number]
}

/** The stored form; it may lack `watch`, and is empty for a library without a schedule. */
export type StoredScanningConfig =
  | (Omit<ScanningConfig, 'watch'> & Partial<Pick<ScanningConfig, 'watch'>>)
  | Record<string, never>

/** Null when the library has no scanning configuration. */
export function readScanningConfig(stored: StoredScanningConfig): ScanningConfig | null {
  return 'scanMode' in stored
    ? { ...(stored as ScanningConfig), watch: stored.watch ?? 'off' }
    : null
}

/**
 * Which of `scanningConfig` and its snake_case duplicate differs from the stored value: clients that send a
 * whole library back change only the one they know. Throws Invalid when both were changed differently.
 */
export function effectiveScanningConfig(
  {
    scanningConfig: camel,
    scanning_config: snake,
  }: {
    scanningConfig?: LibrarySettings['scanningConfig']
    scanning_config?: LibrarySettings['scanningConfig']
  },
  stored: StoredScanningConfig,
): LibrarySettings['scanningConfig'] {
  if (camel === undefined || snake === undefined) return snake === undefined ? camel : snake
  const current = readScanningConfig(stored) ?? {}
  const camelValue = camel && parseScanningConfig(camel, stored)
  const snakeValue = snake && parseScanningConfig(snake, stored)
  if (isDeepStrictEqual(camelValue ?? {}, current)) return snake
  if (isDeepStrictEqual(snakeValue ?? {}, current) || isDeepStrictEqual(camelValue, snakeValue))
    return camel
  throw new Invalid('scanningConfig and scanning_config contradict each other')
}

/** Absent fields, and null for fields that cannot be null, stay as stored. */
function parseScanningConfig(
  value: Static<typeof ScanningConfigBody>,
  stored: StoredScanningConfig,
): ScanningConfig {
  const current = readScanningConfig(stored)
  const textOf = (text: string | null | undefined, previous: string | null | undefined) =>
    text === undefined ? (previous ?? null) : text?.trim() || null
  const cronSchedule = textOf(value.cronSchedule, current?.cronSchedule)
  const cronTimezone = textOf(value.cronTimezone, current?.cronTimezone)
  const error = cronSchedule === null ? null : cronError(cronSchedule)
  if (error) throw new Invalid(`cronSchedule is not valid: ${error}`)
  if (cronTimezone !== null && !isTimeZone(cronTimezone))
    throw new Invalid('cronTimezone must be an IANA time zone such as Europe/Berlin')
  return {
    enabled: value.enabled ?? current?.enabled ?? cronSchedule !== null,
    scanMode: value.scanMode ?? current?.scanMode ?? 'normal',
    cronSchedule,
    cronTimezone,
    scanOnStart: value.scanOnStart ?? current?.scanOnStart ?? false,
    purgeDeletedOnScan: value.purgeDeletedOnScan ?? current?.purgeDeletedOnScan ?? false,
    watch: value.watch ?? current?.watch ?? 'off',
  }
}

/** The name of a library that is created without one. */
export const defaultLibraryName = (path: string): string => basename(path).trim() || path
