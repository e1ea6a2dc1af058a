// Messages between the main thread and page threads.

import type { Containment } from '../base/containment.ts'
import type { UnreadableCode } from '../base/errors.ts'
import type { Limits } from '../media/archive/limits.ts'
import type { EpubContents } from '../media/format/epub/contents.ts'
import type { FormatName } from '../media/format/formats.ts'
import type { Verdict } from '../media/image/verify.ts'
import type { CacheEntry, CacheTarget } from './cache-write.ts'
import type { PageDirectory } from './directory.ts'
import type { Variant } from './variant.ts'

/** A book's file. The path is a latin1 string, one character per byte. */
export type BookRef = {
  path: string
  containment: Containment
  extension: string
  format: FormatName
  size: number
  modifiedMs: number
  /** The stored page list; null if it belongs to another version of the file. */
  packedPages: Uint8Array | null
  limits: Limits
}

/** Renders a page as `variant` (null: its original bytes) and writes it to `target`. */
export type RenderPageRequest = {
  book: BookRef
  index: number
  variant: Variant | null
  target: CacheTarget | null
  /** Where the original bytes may be cached. */
  cachedOriginal: CacheTarget | null
}

/** Renders the cover inside a book as `variant`. */
export type RenderCoverRequest = { book: BookRef; variant: Variant; target: CacheTarget | null }

/** Unpacks pages starting at `index`, one for each target. */
export type UnpackRunRequest = { book: BookRef; index: number; targets: CacheTarget[] }

export type ConvertRequest = { bytes: Uint8Array; variant: Variant; target: CacheTarget | null }

/** Contents of an EPUB, and where its resources lie in the file, by index. */
export type EpubIndex = { contents: EpubContents; directory: PageDirectory }

/** Reads a resource of an EPUB by name. */
export type ReadResourceRequest = { book: BookRef; name: string }

export type ResourceBytes = { bytes: Uint8Array }

/** Creates a thumbnail of at most `maxSide` pixels. */
export type MakeCoverRequest = {
  bytes: Uint8Array
  maxSide: number
  format: 'jpeg' | 'webp'
  quality: number
}

/** Bytes of the thumbnail; type and pixels of the source image. */
export type MadeCover = {
  bytes: Uint8Array
  mediaType: string
  width: number | null
  height: number | null
  /** Size of the source image up to its end marker. */
  originalBytes: number
}

/** Combines four images in two rows of two. */
export type MakeMosaicRequest = {
  images: Uint8Array[]
  /** The longer side. */
  maxSide: number
  format: 'jpeg' | 'webp'
  quality: number
}

/** Verifies that the original bytes of a page decode. */
export type VerifyPageRequest = Pick<RenderPageRequest, 'book' | 'index' | 'cachedOriginal'>

/** `sizeBytes`: size of the page as read, which its file may declare differently. */
export type VerifiedPage = { verdict: Verdict; sizeBytes: number }

/** `bytes` is null if the image was written to its target. */
export type RenderedImage = {
  bytes: Uint8Array | null
  mediaType: string
  written: CacheEntry[]
}

/** `failureFolder`: where image failures are remembered by content; null if they are not. */
export type TaskOptions = { failureFolder: string | null }

/** Requests and results of a page thread's tasks. */
export type PageTasks = {
  directory: { request: BookRef; value: PageDirectory }
  page: { request: RenderPageRequest; value: RenderedImage }
  verify: { request: VerifyPageRequest; value: VerifiedPage }
  bookCover: { request: RenderCoverRequest; value: RenderedImage }
  unpackRun: { request: UnpackRunRequest; value: RenderedImage }
  convert: { request: ConvertRequest; value: RenderedImage }
  cover: { request: MakeCoverRequest; value: MadeCover }
  mosaic: { request: MakeMosaicRequest; value: { bytes: Uint8Array } }
  epub: { request: BookRef; value: EpubIndex }
  resource: { request: ReadResourceRequest; value: ResourceBytes }
}

/** The file is not the requested version. */
export type FileChanged = { changed: { size: number; modifiedMs: number } }

/**
 * `isGone`: the file does not exist; `isAbsent`: it has no such page or resource. Errors are values, because
 * thrown errors lose their class between threads.
 */
export type WorkerResult<T> =
  | { value: T }
  | FileChanged
  | { error: { code: UnreadableCode; message: string }; isGone: boolean }
  | { isAbsent: true }
