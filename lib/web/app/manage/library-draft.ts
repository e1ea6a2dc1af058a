// Library options while they are edited, and the resulting requests.
import type { Schemas } from '../api/client.ts'

type Library = Schemas['Library']
type Create = Schemas['LibraryCreate']
export type SeriesStrategy = Library['seriesStrategy']
export type BookStrategy = Library['bookStrategy']
export type Config = Record<string, unknown>
export type TitleRule = Library['titlePreprocessingRules'][number]
export type Scanning = NonNullable<Library['scanningConfig']>

export type LibraryDraft = {
  name: string
  path: string
  description: string
  defaultReadingDirection: Library['defaultReadingDirection']
  /** Empty means all. */
  allowedFormats: readonly string[]
  excludedPatterns: string
  followLinks: boolean
  seriesStrategy: SeriesStrategy
  seriesConfig: Config
  bookStrategy: BookStrategy
  bookConfig: Config
  numberStrategy: Library['numberStrategy']
  scanning: Scanning
  titleRules: readonly TitleRule[]
}

/** A stored library. */
export type ExistingLibrary = { id: string; saved: LibraryDraft }

export type ChangeDraft = (changes: Partial<LibraryDraft>) => void

const noScanning: Scanning = {
  enabled: false,
  scanMode: 'normal',
  defaultMode: 'normal',
  cronSchedule: null,
  cronTimezone: null,
  scanOnStart: false,
  purgeDeletedOnScan: false,
  watch: 'off',
}

/** A new library is watched; the daily scan is for file systems that report no changes. */
export const newDraft: LibraryDraft = {
  name: '',
  path: '',
  description: '',
  defaultReadingDirection: 'ltr',
  allowedFormats: [],
  excludedPatterns: '',
  followLinks: false,
  seriesStrategy: 'series_volume',
  seriesConfig: {},
  bookStrategy: 'metadata_first',
  bookConfig: {},
  numberStrategy: 'smart',
  scanning: { ...noScanning, watch: 'on', cronSchedule: '0 3 * * *', enabled: true },
  titleRules: [],
}

export const draftOf = (library: Library): LibraryDraft => ({
  name: library.name,
  path: library.path,
  description: library.description ?? '',
  defaultReadingDirection: library.defaultReadingDirection,
  allowedFormats: library.allowedFormats ?? [],
  excludedPatterns: library.excludedPatterns ?? '',
  followLinks: library.followLinks,
  seriesStrategy: library.seriesStrategy,
  seriesConfig: library.seriesConfig as Config,
  bookStrategy: library.bookStrategy,
  bookConfig: library.bookConfig as Config,
  numberStrategy: library.numberStrategy,
  scanning: library.scanningConfig ?? noScanning,
  titleRules: library.titlePreprocessingRules,
})

const { defaultMode: _, ...scanningFields } = noScanning

function fieldsOf(draft: LibraryDraft) {
  const { scanning, titleRules, allowedFormats, ...rest } = draft
  const names = Object.keys(scanningFields) as (keyof typeof scanningFields)[]
  return {
    ...rest,
    description: draft.description.trim() || null,
    allowedFormats: allowedFormats.length === 0 ? null : [...allowedFormats],
    scanningConfig: {
      ...Object.fromEntries(names.map(name => [name, scanning[name]])),
      enabled: scanning.cronSchedule !== null && scanning.enabled,
    },
    titlePreprocessingRules: titleRules.filter(rule => rule.pattern !== ''),
  }
}

export const createRequest = (draft: LibraryDraft): Create =>
  ({ ...fieldsOf(draft), scanImmediately: true }) as Create

/** The changed fields; a strategy is sent with its configuration. */
export function updateRequest(before: LibraryDraft, draft: LibraryDraft): Schemas['LibraryUpdate'] {
  const [old, next] = [fieldsOf(before), fieldsOf(draft)] as Record<string, unknown>[]
  const changed = Object.entries(next!).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old![name]),
  )
  return Object.fromEntries(changed)
}

const differ = (names: readonly (keyof LibraryDraft)[]) => (a: LibraryDraft, b: LibraryDraft) =>
  names.some(name => JSON.stringify(a[name]) !== JSON.stringify(b[name]))

export const changesSeries = differ(['seriesStrategy', 'seriesConfig'])
/** Applied by the next scan. */
export const changesStrategies = differ([
  ...(['seriesStrategy', 'seriesConfig', 'bookStrategy', 'bookConfig', 'numberStrategy'] as const),
])

/** The last folder of a path as the name of a library. */
export function nameOfFolder(path: string): string {
  const name = path.split(/[\\/]/).filter(Boolean).at(-1) ?? ''
  const spaced = name.replace(/[_-]+/g, ' ').trim()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
