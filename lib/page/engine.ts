// Shared state of page rendering.
import { LRUCache } from 'lru-cache'
import { createKeyedMutex } from '../base/async/keyed-mutex.ts'
import type { SingleFlight } from '../base/async/single-flight.ts'
import { containmentOf, type FileAccess, isFileMissing } from '../base/containment.ts'
import { NotFound, Unreadable } from '../base/errors.ts'
import { extensionOf } from '../base/path.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import type { FileBody } from '../download/file-body.ts'
import type { FileVersion } from '../download/range.ts'
import type { Limits } from '../media/archive/limits.ts'
import type { FormatName } from '../media/format/formats.ts'
import type { PageCache } from './cache.ts'
import type { PageDirectory } from './directory.ts'
import type { BookRef, FileChanged, RenderedImage, VerifiedPage } from './messages.ts'
import type { Client, PagePool } from './pool.ts'

/** A book whose pages can be read; see `bookFile`. */
export type PageBook = Pick<
  BookFile,
  'id' | 'root' | 'path' | 'followLinks' | 'name' | 'size' | 'modifiedMs'
> & {
  format: FormatName
  /** The stored page list, packed; null if there is none. */
  pages: Uint8Array | null
}

/** The book with the current version of its file; `isCataloged` if that is the version in the catalog. */
export type BookSnapshot = PageBook & { isCataloged: boolean }

export type Engine = {
  limits: Limits
  access: () => FileAccess
  pool: PagePool
  cache: PageCache
  directories: LRUCache<string, PageDirectory>
  directoryLoads: SingleFlight<PageDirectory | FileChanged>
  imageLoads: SingleFlight<RenderedImage | FileChanged>
  verifications: SingleFlight<VerifiedPage | FileChanged>
  readAhead: ReturnType<typeof createReadAhead>
}

export type ImageBody = (FileBody & { mediaType: string }) | FileChanged

const maxAttempts = 3

/**
 * Calls `work` with the book as cataloged, again with the new version if the file has changed, and once more
 * if another file took its place after it was opened. Throws Unreadable `io` for a file that keeps changing
 * while it is read.
 */
export async function retryOnChange<B extends FileVersion, T extends object>(
  book: B,
  work: (book: B, isCataloged: boolean) => Promise<T | FileChanged>,
): Promise<T> {
  let current = book
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      const result = await work(current, current === book)
      if (!('changed' in result)) return result as T
      current = { ...current, ...(result as FileChanged).changed }
    } catch (error) {
      if (!isFileMissing(error) || attempt > 0) throw error
    }
  }
  throw new Unreadable('The file of the book keeps changing', 'io')
}

/** Work is only shared within an account, so that one with many waiting requests does not delay others. */
export const flightKey = (key: string, { accountId = '' }: Client): string => `${accountId} ${key}`

/** The book as a message to a thread. Throws NotFound if its page list is not stored. */
export function bookRefOf({ limits, access }: Engine, book: BookSnapshot): BookRef {
  const packedPages = book.isCataloged ? book.pages : null
  if (book.isCataloged && packedPages === null)
    throw new NotFound('The pages of the book are not known')
  return {
    path: book.path.toString('latin1'),
    containment: containmentOf(access(), book),
    extension: extensionOf(book.name),
    format: book.format,
    size: book.size,
    modifiedMs: book.modifiedMs,
    packedPages,
    limits,
  }
}

/** A book's file, for reading it in this thread. */
export const fileOf = ({ access }: Engine, book: BookSnapshot) => ({
  ...book,
  containment: containmentOf(access(), book),
})

const firstRunPages = 8
const maxRunPages = 1024

/**
 * Read-ahead in solid archives: how many pages to unpack at a time. Every run also unpacks everything before
 * it, so runs double in length: reading page by page then costs about twice the archive rather than its
 * square.
 */
export function createReadAhead() {
  const books = new LRUCache<string, { next: number; length: number }>({ max: 1000 })
  const lock = createKeyedMutex()

  /** The length of the run from page `index`; a run that continues the previous one is twice as long. */
  function nextRunLength(book: string, index: number): number {
    const previous = books.get(book)
    const isContinued = previous !== undefined && previous.next === index
    const length = isContinued ? Math.min(previous.length * 2, maxRunPages) : firstRunPages
    books.set(book, { next: index + length, length })
    return length
  }

  return {
    /**
     * Runs `work` when no other run of `book` is being unpacked; `work` calls `nextLength` only if it needs a
     * run.
     */
    run: <T>(book: string, work: (nextLength: (index: number) => number) => Promise<T>) =>
      lock(book, () => work(index => nextRunLength(book, index))),
  }
}
