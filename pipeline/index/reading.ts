// Messages to and from the threads that read books: plain values, with long ones as strings, because a string
// is cheaper to pass between threads than the object it encodes.

import type { Containment } from '../../lib/base/containment.ts'
import type { Limits } from '../../lib/media/archive/limits.ts'
import type { FormatName } from '../../lib/media/format/formats.ts'
import type { LibraryRules } from '../scan/scan-context.ts'

/** Shared by all files of a job. */
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
  /**
   * The book at this place, if its file had the same size: if the content is the same, it is not read
   * further.
   */
  known: KnownContent | null
  forced: boolean
  /** Names of metadata.opf, series.json and cover files in the same folder. */
  sidecars: string[]
  /** True for the only book in its folder, which owns the folder's metadata.opf. */
  isAlone: boolean
}

/** Content of a book as cataloged; digests are hex. */
export type KnownContent = {
  fingerprint: string | null
  checks: string | null
  sha256: string | null
  modifiedMs: number
  /** Its file could not be read. */
  hasError: boolean
}

/** Warning about a file without checksums, which may be damaged or edited. */
export const changedSilently =
  'The content changed but its modification time did not; it may be damaged'

export type ReadError = { code: string; message: string }

export type Reading = {
  id: string
  /** Library-relative path, decoded. */
  path: string
  bytesRead: number
  opens: number
  /** Time spent in the thread. */
  ms?: number
  /** Hex; null if the file could not be opened. */
  fingerprint: string | null
  /** Digest of its checksums; see `headerChecks`. */
  checks: string | null
  /** Hex, for a file small enough to be read completely; null for others, which are hashed later. */
  sha256: string | null
  /** Time of the file's last change; see `File`. */
  changedMs: number | null
  /** The content is as cataloged; the fields below are then empty. */
  isUnchanged: boolean
  error: ReadError | null
  warnings: string[]
  format: FormatName | null
  pageCount: number
  /** Whether there is an image for a thumbnail. */
  hasCover: boolean
  series: SeriesDraft | null
  /** JSON object of book columns; see describe.ts. */
  columns: string
  /** Deflated page list, base64. */
  pages: string | null
  /** Media type in which every page is streamed; see `book.page_type`. */
  pageType: string | null
  /** Only present if the scan requests it. */
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

/** The series of a book: its key, and the values to create it with. */
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
  /** Columns stated by series.json: they are also written to an existing series. */
  statedColumns: string[]
  externalIds: { source: string; externalId: string; url: string | null }[]
}
