// Scans with the settings of their library, as loaded by a scan's jobs.

import { newId } from '../../lib/base/id.ts'
import type { ScanOptions } from '../../lib/catalog/scan/scan-request.ts'
import type { FormatName } from '../../lib/media/format/formats.ts'
import type { Config } from '../../lib/media/strategy/config.ts'
import type { TitleRule } from '../../lib/media/strategy/title-rules.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'

/** How the books of a library are named and grouped into series. */
export type LibraryRules = {
  seriesStrategy: string
  seriesConfig: Config
  bookStrategy: string
  bookConfig: Config
  numberStrategy: string
  titleRules: TitleRule[]
  /** Whether the scan records the hash of page 1. */
  pageHash: boolean
}

/** What is needed of a scan to store a batch. */
export type ScanContext = {
  scanId: string
  libraryId: string
  root: Uint8Array
  followLinks: boolean
  hashPolicy: 'full' | 'candidates' | 'off'
  /** A client follows the scan: one record per book goes to `scan_record`. */
  followed: boolean
}

export type LoadedScan = ScanContext & {
  deep: boolean
  state: string
  paths: Uint8Array[]
  options: ScanOptions
  device: string | null
  allowedFormats: FormatName[] | null
  excludedPatterns: string
  bookCount: number
  /** The books are to be regrouped. */
  strategiesChanged: boolean
  /** All of them are also to be read again. */
  appliesStrategies?: boolean
  rules: LibraryRules
}

/**
 * A full scan finishes what other scans left, and retries what failed; otherwise scans continue when their
 * jobs run again.
 */
export const isFull = ({ paths, options }: LoadedScan): boolean =>
  paths.length === 0 && !options.analysis && options.quietMs === undefined

type LibrarySettings = Omit<
  LoadedScan,
  'scanId' | 'deep' | 'followed' | 'state' | 'paths' | 'options'
>

/** Null if the scan or its library is gone. */
export async function loadScan(sql: Sql, scanId: string): Promise<LoadedScan | null> {
  const [row] = await sql`
    select id as "scanId", library_id as "libraryId", mode, state, paths, options
    from scan where id = ${scanId}`
  const settings = row && (await librarySettings(sql, row.libraryId))
  if (!settings) return null
  const { mode, state, paths, options } = row
  const appliesStrategies = settings.strategiesChanged && paths.length === 0 && !options.analysis
  return {
    ...settings,
    ...{ scanId: row.scanId, state, paths, options, appliesStrategies },
    deep: mode === 'deep' || appliesStrategies,
    followed: options.followed ?? false,
    rules: { ...settings.rules, pageHash: options.pageHash ?? false },
  }
}

/** The library settings that its scans depend on; null if it is gone. */
export async function librarySettings(sql: Sql, libraryId: string) {
  const [row] = await sql<LibrarySettings[]>`
    select id as "libraryId", root, follow_links as "followLinks", device,
      hash_policy as "hashPolicy", book_count as "bookCount", allowed_formats as "allowedFormats",
      excluded_patterns as "excludedPatterns", strategies_changed as "strategiesChanged",
      json_build_object('seriesStrategy', series_strategy, 'seriesConfig', series_config,
        'bookStrategy', book_strategy, 'bookConfig', book_config, 'numberStrategy', number_strategy,
        'titleRules', title_preprocessing_rules, 'pageHash', false) as rules
    from library where id = ${libraryId}`
  return row ?? null
}

/** The default settings, for a folder that is not yet a library. */
export function defaultLibrarySettings(
  root: Buffer,
  seriesStrategy = 'series_volume',
): LibrarySettings {
  return {
    libraryId: newId(),
    root,
    followLinks: false,
    device: null,
    hashPolicy: 'full',
    bookCount: 0,
    strategiesChanged: false,
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
