// What the making of pages works with, and how a book is met: by the list of where its pages lie.
import type { LRUCache } from 'lru-cache'
import type { openFlights } from '../async/work-queue.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import type { Body } from '../download/file-body.ts'
import { NotFound, Unreadable } from '../errors.ts'
import type { FormatName, Limits } from '../format/contract.ts'
import { extensionOf } from '../path.ts'
import type { PageCache } from './cache.ts'
import { pageCounters } from './counters.ts'
import type { Directory } from './directory.ts'
import { type Version, versionKey } from './etag.ts'
import type { Image, Place } from './messages.ts'
import type { Changed, PagePool } from './pool.ts'
import type { Runs } from './readahead.ts'

/** What a route needs of a book; see `bookFile`. */
export type BookOfPages = Pick<
  BookFile,
  'id' | 'root' | 'path' | 'name' | 'size' | 'modifiedMs'
> & {
  format: FormatName
  /** Its packed page list; only asked for when it is needed, null when there is none. */
  pages: () => Promise<Uint8Array | null>
}

/** The book as it is met: `isKnown` when its file is the one that the catalogue describes. */
export type Met = BookOfPages & { isKnown: boolean }

export type Engine = {
  limits: Limits
  pool: PagePool
  cache: PageCache
  directories: LRUCache<string, Directory>
  directoryFlights: ReturnType<typeof openFlights<Directory | Changed>>
  imageFlights: ReturnType<typeof openFlights<Image | Changed>>
  runs: Runs
}

export type Found = (Body & { mediaType: string }) | Changed

/**
 * Does `work` with the book as it is met, and again when its file turns out to be another one by then.
 * Throws Unreadable `io`: a file that changes again and again while it is read is not worth waiting for.
 */
export async function steadily<B extends Version, T extends object>(
  book: B,
  work: (met: B, isKnown: boolean) => Promise<T | Changed>,
): Promise<T> {
  let met = book
  for (let tries = 0; tries < 3; tries++) {
    const found = await work(met, tries === 0)
    if (!('changed' in found)) return found as T
    met = { ...met, ...(found as Changed).changed }
  }
  throw new Unreadable('The file of the book is being changed', 'io')
}

/** Where the pages lie; made by a thread when it is not remembered. */
export async function directoryOf(
  engine: Engine,
  book: Met,
  signal?: AbortSignal,
): Promise<Directory | Changed> {
  const key = versionKey(book)
  const known = engine.directories.get(key)
  if (known) return known
  const make = async (signal: AbortSignal) => {
    pageCounters.directories += 1
    const place = await placeOf(engine, book)
    const made = await engine.pool.run('directory', place, { weighs: 1, signal })
    if ('rows' in made) engine.directories.set(key, made)
    return made
  }
  return engine.directoryFlights(key, make, signal)
}

/** The book as a thread is told of it. Throws NotFound when its pages are not known. */
export async function placeOf({ limits }: Engine, book: Met): Promise<Place> {
  const packed = book.isKnown ? await book.pages() : null
  if (book.isKnown && packed === null) throw new NotFound('The pages of the book are not known')
  return {
    path: book.path.toString('latin1'),
    root: book.root.toString('latin1'),
    extension: extensionOf(book.name),
    format: book.format,
    size: book.size,
    modifiedMs: book.modifiedMs,
    packed,
    limits,
  }
}
