// What users say about a library beside its folder: the schema of a request, and the columns it becomes.
import { isDeepStrictEqual } from 'node:util'
import { cronFault, isTimeZone } from '../../cron.ts'
import { Invalid } from '../../errors.ts'
import { formatNames } from '../../format/contract.ts'
import { readingDirections } from '../../metadata/metadata.ts'
import { body, json, list, maybe, nullable, oneOf, type Static, Type, text } from '../../schema.ts'
import { bookStrategies, validateBookStrategy } from '../../strategy/book.ts'
import { numberStrategies } from '../../strategy/number.ts'
import { compilePattern } from '../../strategy/pattern.ts'
import { validateRules } from '../../strategy/preprocess.ts'
import { checkStorable } from '../metadata/metadata-values.ts'

export const scanModes = ['normal', 'deep'] as const
export const watchModes = ['off', 'on', 'poll'] as const

const ScanningConfig = body({
  enabled: maybe(
    nullable(Type.Boolean({ description: 'Scans by the schedule; true when there is one.' })),
  ),
  scanMode: maybe(
    nullable(oneOf(scanModes, { aliases: ['defaultMode', 'default_mode'], default: 'normal' })),
  ),
  cronSchedule: maybe(nullable(text(200, { description: 'Five fields: `0 */6 * * *`.' }))),
  cronTimezone: maybe(
    nullable(text(100, { description: 'IANA name; else that of the setting scheduler.timezone.' })),
  ),
  scanOnStart: maybe(nullable(Type.Boolean({ description: 'Scans when the server starts.' }))),
  purgeDeletedOnScan: maybe(
    nullable(Type.Boolean({ description: 'Erases missing books after a scan.' })),
  ),
  watch: maybe(
    nullable(
      oneOf(watchModes, {
        default: 'off',
        description:
          '`on` scans what changes as it changes, `poll` looks at the whole folder again and again; `watchState` of the library says what came of it.',
      }),
    ),
  ),
})

const titleRule = body({
  pattern: text(1000, { minLength: 1, description: 'RE2 regular expression.' }),
  replacement: text(1000, { description: '`$1` stands for a group.' }),
  description: maybe(nullable(text(1000))),
  enabled: maybe(Type.Boolean({ default: true })),
})

const operators = [
  ...['is_null', 'is_not_null', 'equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'],
  ...['contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'in', 'not_in'],
]
export const AutoMatch = body({
  mode: oneOf(['all', 'any']),
  rules: list(
    body({
      field: text(200, {
        pattern: '^[A-Za-z][\\w:-]*(\\.[\\w:-]+)*$',
        description: 'Path in the series context, e.g. `metadata.title`.',
      }),
      operator: oneOf(operators),
      value: maybe(json()),
    }),
    { maxItems: 100 },
  ),
})

/** Settings of a strategy; which there are the strategy says. */
export const StrategyConfig = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
})
const config = maybe(nullable(StrategyConfig))

/** The fields that may be given when a library is made and later. Null clears what can be empty, and leaves the rest alone. */
export const ruleFields = {
  description: maybe(nullable(text(5000))),
  defaultReadingDirection: maybe(nullable(oneOf(readingDirections))),
  allowedFormats: maybe(
    nullable(
      list(text(10), { maxItems: 20, description: `${formatNames.join(', ')}; null for all.` }),
    ),
  ),
  excludedPatterns: maybe(nullable(text(200_000, { description: 'A glob a line, at most 500.' }))),
  bookStrategy: maybe(nullable(oneOf(bookStrategies))),
  bookConfig: config,
  numberStrategy: maybe(nullable(oneOf(numberStrategies))),
  numberConfig: config,
  scanningConfig: maybe(nullable(ScanningConfig)),
  titlePreprocessingRules: maybe(nullable(list(titleRule, { maxItems: 100 }))),
  autoMatchConditions: maybe(nullable(AutoMatch)),
  isActive: maybe(nullable(Type.Boolean())),
}
const Rules = Type.Object(ruleFields)
export type Rules = Static<typeof Rules>

/** A value of jsonb, to tell it from an array of texts. */
export type Jsonb = { json: unknown }
export type Column = string | boolean | string[] | null | Jsonb

/**
 * The columns that a request sets, by name; `current` is the book strategy so far. Throws Invalid for
 * what a schema cannot see.
 */
export function ruleColumns(rules: Rules, current: string): Record<string, Column> {
  const columns: Record<string, Column | undefined> = {
    description: rules.description,
    default_reading_direction: rules.defaultReadingDirection ?? undefined,
    allowed_formats: formats(rules.allowedFormats),
    excluded_patterns: patterns(rules.excludedPatterns),
    ...bookColumns(rules, current),
    number_strategy: rules.numberStrategy ?? undefined,
    number_config: jsonb(rules.numberConfig, {}),
    scanning_config: jsonb(rules.scanningConfig && scanning(rules.scanningConfig), {}),
    title_preprocessing_rules: jsonb(
      rules.titlePreprocessingRules && validateRules(rules.titlePreprocessingRules),
      [],
    ),
    auto_match_conditions:
      rules.autoMatchConditions === null
        ? null
        : jsonb(rules.autoMatchConditions && autoMatch(rules.autoMatchConditions), null),
    is_active: rules.isActive ?? undefined,
  }
  const said = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said) as Record<string, Column>
}

function jsonb(value: unknown, empty: unknown): Jsonb | undefined {
  return value === undefined ? undefined : { json: value ?? empty }
}

/** A strategy brings its own settings: those of the one before mean nothing to it. */
function bookColumns({ bookStrategy, bookConfig }: Rules, current: string) {
  const strategy = bookStrategy ?? current
  if (bookConfig === undefined && strategy === current) return {}
  const config = validateBookStrategy(strategy, bookConfig ?? {})
  return { book_strategy: strategy, book_config: { json: config } }
}

function formats(given: readonly string[] | null | undefined) {
  if (!given) return given
  const names = new Set(given.map(name => name.toLowerCase()))
  const unknown = [...names].find(name => !formatNames.some(known => known === name))
  if (unknown !== undefined)
    throw new Invalid(
      `allowedFormats has a format that is none; there are: ${formatNames.join(', ')}`,
    )
  // None at all would empty the library; it is how clients say that they do not mind.
  return names.size === 0 ? null : formatNames.filter(name => names.has(name))
}

function patterns(given: string | null | undefined) {
  if (!given) return given === undefined ? undefined : ''
  const lines = given.split(/\r?\n/)
  if (lines.length > 500) throw new Invalid('excludedPatterns has more than 500 lines')
  if (lines.some(line => line.length > 1000))
    throw new Invalid('A line of excludedPatterns is longer than 1000 characters')
  return given
}

export type Scanning = {
  enabled: boolean
  scanMode: (typeof scanModes)[number]
  cronSchedule: string | null
  cronTimezone: string | null
  scanOnStart: boolean
  purgeDeletedOnScan: boolean
  watch: (typeof watchModes)[number]
}

/** As it is stored; libraries of an older release do not say whether they are watched. */
export type StoredScanning =
  | (Omit<Scanning, 'watch'> & Partial<Pick<Scanning, 'watch'>>)
  | Record<string, never>

/** Null when nothing was ever said. */
export function storedScanning(stored: StoredScanning): Scanning | null {
  return 'scanMode' in stored ? { ...(stored as Scanning), watch: stored.watch ?? 'off' } : null
}

/**
 * Of two spellings of a schedule, the one that is not as it was: clients that send a library back
 * change the one they know. Throws Invalid when both were changed, and differently.
 */
export function scanningMeant(
  {
    scanningConfig: camel,
    scanning_config: snake,
  }: { scanningConfig?: Rules['scanningConfig']; scanning_config?: Rules['scanningConfig'] },
  stored: StoredScanning,
): Rules['scanningConfig'] {
  if (camel === undefined || snake === undefined) return snake === undefined ? camel : snake
  const now = storedScanning(stored) ?? {}
  const [one, other] = [camel && scanning(camel), snake && scanning(snake)]
  if (isDeepStrictEqual(one ?? {}, now)) return snake
  if (isDeepStrictEqual(other ?? {}, now) || isDeepStrictEqual(one, other)) return camel
  throw new Invalid('scanningConfig and scanning_config say different things')
}

function scanning(given: Static<typeof ScanningConfig>): Scanning {
  const cronSchedule = given.cronSchedule?.trim() || null
  const cronTimezone = given.cronTimezone?.trim() || null
  const fault = cronSchedule === null ? null : cronFault(cronSchedule)
  if (fault) throw new Invalid(fault)
  if (cronTimezone !== null && !isTimeZone(cronTimezone))
    throw new Invalid('cronTimezone is no time zone; it should be like Europe/Berlin')
  return {
    enabled: given.enabled ?? cronSchedule !== null,
    scanMode: given.scanMode ?? 'normal',
    cronSchedule,
    cronTimezone,
    scanOnStart: given.scanOnStart ?? false,
    purgeDeletedOnScan: given.purgeDeletedOnScan ?? false,
    watch: given.watch ?? 'off',
  }
}

function autoMatch(given: Static<typeof AutoMatch>) {
  checkStorable(given)
  for (const [i, { operator, value }] of given.rules.entries()) {
    if (operator === 'matches')
      compilePattern(String(value ?? ''), `autoMatchConditions.rules[${i}]`)
    if ((operator === 'in' || operator === 'not_in') && !Array.isArray(value))
      throw new Invalid(`autoMatchConditions.rules[${i}]: ${operator} needs a list`)
  }
  return given
}
