// Messages between the main thread and page threads.
import { isMarkedAsUntransferable } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Containment } from '../base/containment.ts'
import type { UnreadableCode } from '../base/errors.ts'
import type { Limits } from '../media/archive/limits.ts'
import type { EpubContents } from '../media/format/epub/contents.ts'
import type { FormatName } from '../media/format/formats.ts'
import type { OutlineEntry } from '../media/format/pdf/outline.ts'
import type { FoundText, TextSearch } from '../media/format/pdf/text.ts'
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

/** Contents of an EPUB, and where its resources lie in the file, by index. */
export type EpubIndex = { contents: EpubContents; directory: PageDirectory }

type ThumbnailOptions = {
  /** The longer side. */
  maxSide: number
  format: 'jpeg' | 'webp'
  quality: number
}
/** Creates a thumbnail. */
export type MakeCoverRequest = ThumbnailOptions & { bytes: Uint8Array }
/** Combines four images in two rows of two. */
export type MakeMosaicRequest = ThumbnailOptions & { images: Uint8Array[] }

/** Bytes of the thumbnail; type and pixels of the source image. */
export type MadeCover = {
  bytes: Uint8Array
  mediaType: string
  width: number | null
  height: number | null
  /** Size of the source image up to its end marker. */
  originalBytes: number
}

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

type PageRequest = {
  book: BookRef
  index: number
  /** Where the original bytes may be cached. */
  cachedOriginal: CacheTarget | null
}

/** Requests and results of a page thread's tasks. Images are written to `target`. */
export type PageTasks = {
  directory: { request: BookRef; value: PageDirectory }
  /** Renders a page as `variant`; null: its original bytes. */
  page: {
    request: PageRequest & { variant: Variant | null; target: CacheTarget | null }
    value: RenderedImage
  }
  /** Verifies that the original bytes of a page decode. */
  verify: { request: PageRequest; value: VerifiedPage }
  /** Renders the cover inside a book. */
  bookCover: {
    request: { book: BookRef; variant: Variant; target: CacheTarget | null }
    value: RenderedImage
  }
  /** Unpacks pages starting at `index`, one for each target. */
  unpackRun: {
    request: { book: BookRef; index: number; targets: CacheTarget[] }
    value: RenderedImage
  }
  convert: {
    request: { bytes: Uint8Array; variant: Variant; target: CacheTarget | null }
    value: RenderedImage
  }
  cover: { request: MakeCoverRequest; value: MadeCover }
  mosaic: { request: MakeMosaicRequest; value: { bytes: Uint8Array } }
  epub: { request: BookRef; value: EpubIndex }
  /** Reads a resource of an EPUB by name. */
  resource: { request: { book: BookRef; name: string }; value: { bytes: Uint8Array } }
  /** The words of a page of a PDF, as JSON. */
  text: {
    request: { book: BookRef; index: number; target: CacheTarget | null }
    value: RenderedImage
  }
  searchText: { request: { book: BookRef } & TextSearch; value: FoundText }
  outline: { request: BookRef; value: { entries: OutlineEntry[] } }
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

/** Transfers byte arrays instead of copying them, if nothing else shares their buffer. */
export function transferable<T>(results: WorkerResult<T>[]): WorkerResult<T>[] {
  const transfer: ArrayBuffer[] = []
  for (const result of results) {
    if (!('value' in result)) continue
    for (const part of Object.values(result.value as object)) {
      if (!(part instanceof Uint8Array || part instanceof Float64Array)) continue
      const { buffer } = part
      const isAlone = buffer instanceof ArrayBuffer && part.byteLength === buffer.byteLength
      if (isAlone && !isMarkedAsUntransferable(buffer)) transfer.push(buffer as ArrayBuffer)
    }
  }
  if (transfer.length === 0) return results
  return Piscina.move({
    [Piscina.transferableSymbol]: transfer,
    [Piscina.valueSymbol]: results,
  } as never) as never
}
