// What goes to a thread and what comes back: plain values, strings where they are long, because a
// string is cheaper to hand over than the object it describes.
import type { FormatName, Limits } from '../../lib/format/contract.ts'
import type { Config } from '../../lib/strategy/config.ts'
import type { TitleRule } from '../../lib/strategy/preprocess.ts'

/** How a library wants its books read; the same for every file of a task. */
export type ReadingRules = {
  seriesStrategy: string
  seriesConfig: Config
  bookStrategy: string
  bookConfig: Config
  numberStrategy: string
  titleRules: TitleRule[]
  limits: Limits
  pageHash: boolean
}

export type FileToRead = {
  /** Id of the row in `found`, or of the book. */
  id: string
  /** Absolute path, latin1 (bytes one to one). */
  path: string
  /** Library-relative path, decoded for people. */
  relative: string
  /** Fingerprint the catalogue holds for this place; an equal one ends the reading there. */
  known: string | null
  forced: boolean
  /** Names of metadata.opf, series.json and cover files in the same folder. */
  sidecars: string[]
  /** Other books in the folder: a lone book owns the folder's metadata.opf. */
  alone: boolean
}

export type ReadError = { code: string; message: string }

export type Reading = {
  id: string
  /** Library-relative path, decoded for people. */
  path: string
  bytesRead: number
  opens: number
  /** How long a thread was at it. */
  ms?: number
  /** Hex; null when the file could not be opened. */
  fingerprint: string | null
  /** The content is what the catalogue knows; the fields below are then empty. */
  same: boolean
  error: ReadError | null
  warnings: string[]
  format: FormatName | null
  pageCount: number
  /** There is an image to make a thumbnail of. */
  hasCover: boolean
  series: SeriesPlace | null
  /** JSON object of book columns; see `bookColumns` in store.ts. */
  columns: string
  /** Deflated page list, base64. */
  pages: string | null
  /** What all pages are streamed as; see `book.page_type`. */
  pageType: string | null
  /** Only when the scan asked for it. */
  firstPageSha256?: string | null
  shown: Shown | null
}

/** The fields of a book that a follower of a scan prints. */
export type Shown = {
  title: string
  series: string
  number: string | null
  volume: number | null
  chapter: number | null
  year: number | null
  language: string | null
  author: string | null
}

/** Where a book belongs, and what a series made for it starts with. */
export type SeriesPlace = {
  key: string
  name: string
  folder: string | null
  oneShot: boolean
  title: string
  sortKey: string
  searchKey: string
  publisher: string | null
  year: number | null
  summary: string | null
  status: string | null
  language: string | null
  ageRating: number | null
  readingDirection: string | null
  /** Columns of the series that series.json states: they hold for a series that was made without it, too. */
  stated: string[]
  externalIds: { source: string; externalId: string; url: string | null }[]
}
