// Enumerations of the API in the order in which they are shown. Their types come from its OpenAPI document: a missing
// or unknown value does not compile.
import type { Schemas } from './client.ts'

const listOf = <V extends string>(values: Record<V, true>): readonly V[] =>
  Object.keys(values) as V[]

type AnyCaseFormat = NonNullable<Schemas['LibraryCreate']['allowedFormats']>[number]
export const fileFormats = listOf<Lowercase<AnyCaseFormat>>({
  cbz: true,
  cbr: true,
  cb7: true,
  cbt: true,
  epub: true,
  pdf: true,
})

export const readingDirections = listOf<Schemas['Library']['defaultReadingDirection']>({
  ltr: true,
  rtl: true,
  ttb: true,
  webtoon: true,
})

export const seriesStatuses = listOf<Schemas['SeriesMetadata']['status']>({
  ongoing: true,
  ended: true,
  hiatus: true,
  abandoned: true,
  unknown: true,
})

export const readStatuses = listOf<Schemas['StatusValueTest']['value']>({
  unread: true,
  in_progress: true,
  read: true,
})

export const bookTypes = listOf<NonNullable<Schemas['BookMetadata']['bookType']>>({
  comic: true,
  manga: true,
  novel: true,
  novella: true,
  anthology: true,
  artbook: true,
  oneshot: true,
  omnibus: true,
  graphic_novel: true,
  magazine: true,
})

export const bookErrorTypes = listOf<Schemas['BookError']['errorType']>({
  bad_crc: true,
  truncated: true,
  not_an_archive: true,
  encrypted: true,
  multi_volume: true,
  no_pages: true,
  unsupported_format: true,
  unsupported_image: true,
  unsupported_method: true,
  too_large: true,
  memory: true,
  timeout: true,
  io: true,
  thumbnail: true,
  internal: true,
})

export const seriesStrategies = listOf<Schemas['Library']['seriesStrategy']>({
  series_volume: true,
  series_volume_chapter: true,
  flat: true,
  publisher_hierarchy: true,
  calibre: true,
  custom: true,
})

export const bookStrategies = listOf<Schemas['Library']['bookStrategy']>({
  metadata_first: true,
  smart: true,
  filename: true,
  series_name: true,
  custom: true,
})

export const numberStrategies = listOf<Schemas['Library']['numberStrategy']>({
  smart: true,
  metadata: true,
  filename: true,
  file_order: true,
})

export const scanModes = listOf<Schemas['ScanningConfig']['scanMode']>({ normal: true, deep: true })

export const watchModes = listOf<Schemas['ScanningConfig']['watch']>({
  on: true,
  poll: true,
  off: true,
})

export const roles = listOf<Schemas['Role']>({ reader: true, maintainer: true, admin: true })

export const taskStatuses = listOf<Schemas['Task']['status']>({
  running: true,
  pending: true,
  failed: true,
  completed: true,
  cancelled: true,
})

export const taskTypes = listOf<Schemas['Task']['taskType']>({
  scan_library: true,
  analyze_books: true,
  read_books: true,
  generate_thumbnails: true,
  generate_thumbnail: true,
  hash_books: true,
  find_duplicates: true,
  purge_deleted: true,
  delete_library: true,
  backup: true,
  plugin_auto_match: true,
  poll_release_source: true,
  maintenance: true,
})

export const matchOutcomes = listOf<NonNullable<Schemas['SourceMatch']['outcome']>>({
  matched: true,
  unchanged: true,
  no_match: true,
  low_confidence: true,
  library_conditions_not_met: true,
  plugin_conditions_not_met: true,
  plugin_not_found: true,
  plugin_disabled: true,
  failed: true,
  undone: true,
})
