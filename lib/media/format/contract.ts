// Contract of a book format: its properties, and the reader that opens its files.
import type { File } from '../../base/file.ts'
import type { ArchiveFormat, EntryLocation } from '../archive/container.ts'
import type { Limits } from '../archive/limits.ts'
import type { Metadata, SourceReading } from '../metadata/metadata.ts'

/** One page image in reading order. `width`/`height` are pixels as displayed (EXIF applied); null when the header does not contain them. */
export type Page = {
  /** Decoded entry name inside the container; `page-0001` for PDF. Data, never a path. */
  name: string
  mediaType: string
  /** Uncompressed size in bytes; 0 for a rendered PDF page. */
  bytes: number
  width: number | null
  height: number | null
  /** Where its data lies in the file; null for a rendered page. */
  location: EntryLocation
}

/** An open book. Methods throw only Unreadable. Not safe for concurrent calls. */
export type OpenedBook = AsyncDisposable & {
  /**
   * Page images in reading order; for EPUB the image resources of the package. Measured from headers only.
   */
  pages: readonly Page[]
  /** How many pages `page` accepts; cheaper than `pages.length` for PDF. */
  imageCount: number
  /** Pages to read: `imageCount`, or the Readium positions of a reflowable EPUB. */
  pageCount: number
  /** Rendition layout of an EPUB. */
  layout?: NonNullable<Metadata['layout']>
  /** See `headerChecks`; null for a format without checksums. */
  checks: string | null
  /** Defects that did not prevent reading, as short sentences without paths. */
  warnings: string[]
  /** Original bytes of page `index` (zero-based); for PDF the embedded JPEG or a rendering. */
  page(index: number): Promise<{ bytes: Uint8Array; mediaType: string }>
  /**
   * Images that may be the cover, best first, read one by one: the next is only needed if the previous cannot
   * be decoded. Omits unreadable ones; if none is readable, throws the reason.
   */
  covers(): AsyncIterable<Uint8Array>
  /** Embedded metadata, highest priority first; a malformed source only adds warnings. */
  metadata(): Promise<SourceReading[]>
}

/** The code that reads files of a format. */
export type FormatReader = {
  /** The archive format that contains the pages; null for a format without entries. */
  archive: ArchiveFormat | null
  /**
   * `head` is the first 4 KiB of the file. Signatures decide; the extension (lowercase, no dot) only resolves
   * ambiguities.
   */
  matches(head: Uint8Array, extension: string): boolean
  /** Does not take ownership of `file`. Throws only Unreadable. */
  open(file: File, limits: Limits): Promise<OpenedBook>
  /** Equivalent to `open` and `OpenedBook.covers`, where there is a cheaper way. */
  covers?(file: File, limits: Limits): AsyncIterable<Uint8Array>
}

/** Profiles of the Readium Web Publication Manifest. */
export type ReadiumProfile = 'divina' | 'epub' | 'pdf'

/** A book format. The reader is loaded on first use: API threads need only the properties. */
export type Format<Name extends string = string> = {
  name: Name
  /** File extensions in lowercase, without the dot. */
  extensions: readonly string[]
  /** Media type of the file in downloads. */
  mediaType: string
  opds: {
    /** Media type of the file in OPDS feeds; a registered type where one exists. */
    mediaType: string
    /** What OPDS 1.2 apps expect, if different. */
    mediaType1?: string
    profile: ReadiumProfile
  }
  /** Text divided into positions instead of pages; may have a cover without page images. */
  isReflowable: boolean
  /** Pages are rendered, so producing one is expensive. */
  isRendered: boolean
  load(): Promise<FormatReader>
}
