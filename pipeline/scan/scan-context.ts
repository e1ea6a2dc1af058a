// A scan with the settings of its library, as its jobs need them.
import type { Sql } from 'postgres'
import type { ScanOptions } from '../../lib/catalog/scan/scan-request.ts'
import { newId } from '../../lib/id.ts'
import type { ReadingRules } from '../index/reading.ts'

/** What storing a batch needs to know of its scan. */
export type ScanContext = {
  scanId: string
  libraryId: string
  root: Uint8Array
  hashPolicy: 'full' | 'candidates' | 'off'
  /** The scan is being followed: one record a book goes to `scan_record`. */
  followed: boolean
}

export type LoadedScan = ScanContext & {
  deep: boolean
  state: string
  paths: Uint8Array[]
  options: ScanOptions
  device: string | null
  allowedFormats: string[] | null
  excludedPatterns: string
  bookCount: number
  rules: Omit<ReadingRules, 'limits'>
}

type LibrarySettings = Omit<
  LoadedScan,
  'scanId' | 'deep' | 'followed' | 'state' | 'paths' | 'options'
>

/** Null when the scan or its library is gone. */
export async function loadScan(sql: Sql, scanId: string): Promise<LoadedScan | null> {
  const [row] = await sql`
    select id as "scanId", library_id as "libraryId", mode, state, paths, options
    from scan where id = ${scanId}`
  if (!row) return null
  const settings = await librarySettings(sql, row.libraryId)
  const { scanId: id, state, paths, options } = row
  const scan = {
    ...settings,
    scanId: id,
    state,
    paths,
    options,
    deep: row.mode === 'deep',
    followed: options.followed ?? false,
  }
  return { ...scan, rules: { ...settings.rules, pageHash: options.pageHash ?? false } }
}

/** What a library says about how it is scanned. */
export async function librarySettings(sql: Sql, libraryId: string): Promise<LibrarySettings> {
  const [row] = await sql`
    select id as "libraryId", root, device, hash_policy as "hashPolicy", book_count as "bookCount",
      allowed_formats as "allowedFormats", excluded_patterns as "excludedPatterns",
      series_strategy as "seriesStrategy", series_config as "seriesConfig",
      book_strategy as "bookStrategy", book_config as "bookConfig",
      number_strategy as "numberStrategy",
      title_preprocessing_rules as "titleRules"
    from library where id = ${libraryId}`
  const {
    seriesStrategy,
    seriesConfig,
    bookStrategy,
    bookConfig,
    numberStrategy,
    titleRules,
    ...rest
  } = row!
  const strategies = { seriesStrategy, seriesConfig, bookStrategy, bookConfig, numberStrategy }
  return { ...rest, rules: { ...strategies, titleRules, pageHash: false } } as LibrarySettings
}

/** The settings a library would begin with, for a folder that is none yet. */
export function noLibrary(root: Buffer, seriesStrategy = 'series_volume'): LibrarySettings {
  return {
    libraryId: newId(),
    root,
    device: null,
    hashPolicy: 'full',
    bookCount: 0,
    allowedFormats: null,
    excludedPatterns: '',
    rules: {
      seriesStrategy,
      seriesConfig: {},
      bookStrategy: 'metadata_first',
      bookConfig: {},
      numberStrategy: 'smart',
      titleRules: [],
      pageHash: false,
    },
  }
}
