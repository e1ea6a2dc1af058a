// Messages to and from the threads that read books: plain values, with strings where they are long, because
// a string is cheaper to pass between threads than the object it encodes.

import type { Containment } from '../../lib/base/containment.ts'
import type { Limits } from '../../lib/media/archive/limits.ts'
import type { FormatName } from '../../lib/media/format/formats.ts'
import type { LibraryRules } from '../scan/scan-context.ts'

/** The same for every file of a job. */
export type ReadOptions = LibraryRules & {
  limits: Limits
  containment: Containment
  /** Whether every file is to be hashed. */
  hashesAll: boolean
}

export type FileToRead = {
  /** Id of the row in pending_file, or of the book. */
  id: string
  /** Absolute path, latin1 (one character per byte). */
  path: string
  /** Library-relative path, decoded. */
  relative: string
  /** The book at this place, if its file had the same size: if the content is the same, it is not read further. */
  known: KnownContent | null
  forced: boolean
  /** Names of metadata.opf, series.json and cover files in the same folder. */
  sidecars: string[]
  /** True for the only book of its folder, which owns the folder's metadata.opf. */
  isAlone: boolean
}

/** Content of a book as the catalogue has it; digests are hex. */
export type KnownContent = {
  fingerprint: string | null
  checks: string | null
  sha256: string | null
  modifiedMs: number
  /** Its file could not be read. */
  hasError: boolean
}

/** Warning about a file without checksums, which may be damaged or edited. */
export const changedSilently = 'The content changed without a new time; it may be damaged'

export type ReadError = { code: string; message: string }

export type Reading = {
  id: string
  /** Library-relative path, decoded. */
  path: string
  bytesRead: number
  opens: number
  /** Time in the thread. */
  ms?: number
  /** Hex; null when the file could not be opened. */
  fingerprint: string | null
  /** Digest of its checksums; see `headerChecks`. */
  checks: string | null
  /** Hex, of a file that was read whole because it is small; null for others, which are hashed later. */
  sha256: string | null
  /** Time of the last change of the file; see `File`. */
  changedMs: number | null
  /** The content is that of the catalogue; the fields below are then empty. */
  isUnchanged: boolean
  error: ReadError | null
  warnings: string[]
  format: FormatName | null
  pageCount: number
  /** True when there is an image to make a thumbnail of. */
  hasCover: boolean
  series: SeriesDraft | null
  /** JSON object of book columns; see describe.ts. */
  columns: string
  /** Deflated page list, base64. */
  pages: string | null
  /** Media type in which every page is streamed; see `book.page_type`. */
  pageType: string | null
  /** Only when the scan requests it. */
  firstPageSha256?: string | null
  recordFields: RecordFields | null
}

/** Fields of the book in the record of a followed scan. */
export type RecordFields = {
  title: string
  series: string
  number: string | null
  volume: number | null
  chapter: number | null
  year: number | null
  language: string | null
  author: string | null
}

/** The series of a book: its key, and the values with which it is created. */
export type SeriesDraft = {
  key: string
  name: string
  folder: string | null
  oneShot: boolean
  title: string
  sortKey: string
  searchKey: string
  /** Initial values of metadata columns. */
  columns: Record<string, unknown>
  /** Columns that series.json states: they are also written to a series that exists. */
  statedColumns: string[]
  externalIds: { source: string; externalId: string; url: string | null }[]
}
