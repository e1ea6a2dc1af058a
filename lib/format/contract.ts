// What every book format offers. A format is a value; `formats.ts` holds the list.
import type { File } from '../file.ts'
import type { SourceReading } from '../metadata/metadata.ts'

export const formatNames = ['cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf'] as const
export type FormatName = (typeof formatNames)[number]

/** One page image in reading order. `width`/`height` are pixels as displayed (EXIF applied); null when the header does not tell. */
export type Page = {
  /** Entry name inside the container, decoded; `page-0001` for PDF. Data, never a path. */
  name: string
  mediaType: string
  /** Uncompressed bytes; 0 for a rendered PDF page. */
  bytes: number
  width: number | null
  height: number | null
}

/** Budgets of one book. Sizes are bytes. Declared sizes are compared before anything is extracted. */
export type Limits = {
  /** Largest single page or resource. */
  entryBytes: number
  /** Largest metadata document (ComicInfo.xml, package.opf). */
  metadataBytes: number
  /** Most entries in an archive. */
  entries: number
  /** Largest archive that must be held in memory because its format allows no random access. */
  solidBytes: number
}

export const defaultLimits: Limits = {
  entryBytes: 256 * 1024 * 1024,
  metadataBytes: 8 * 1024 * 1024,
  entries: 65_536,
  solidBytes: 1024 * 1024 * 1024,
}

/** An opened book. Throws only Unreadable. Not safe for two calls at once. */
export type Opened = AsyncDisposable & {
  format: FormatName
  /** Page images in reading order; for EPUB the image resources of the package. Measured from headers only. */
  pages: readonly Page[]
  /** Pages to read: `pages.length`, or the Readium positions of a reflowable EPUB. */
  pageCount: number
  /** Short sentences without paths: what was wrong but could be passed over. */
  warnings: string[]
  /** Original bytes of page `index` (zero-based); for PDF the embedded JPEG or a rendering. */
  page(index: number): Promise<{ bytes: Uint8Array; mediaType: string }>
  /** Bytes of the cover image, or null when there is none. */
  cover(): Promise<Uint8Array | null>
  /** Embedded metadata, highest priority first; a malformed source gives only warnings. */
  metadata(): Promise<SourceReading[]>
}

export type Format = {
  name: FormatName
  /** `head` is the first 4 KiB of the file. Signatures first; the extension (lower case, no dot) only to tell like from like. */
  matches(head: Uint8Array, extension: string): boolean
  /** Takes no ownership of `file`. Throws Unreadable, nothing else. */
  open(file: File, limits: Limits): Promise<Opened>
  /** What `open` and `Opened.cover` give, where it can be had for less. */
  cover?(file: File, limits: Limits): Promise<Uint8Array | null>
}

/** Limits with the sizes of the configuration (megabytes). */
export function limitsOf(files: { entry_mb: number; solid_mb: number }): Limits {
  const mb = 1024 * 1024
  return { ...defaultLimits, entryBytes: files.entry_mb * mb, solidBytes: files.solid_mb * mb }
}
