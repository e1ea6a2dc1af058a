// Pages of books as they are asked for: original bytes straight from the file where they lie in it as
// they are, everything else made by the page threads and kept on disk.
import { LRUCache } from 'lru-cache'
import { openFlights } from '../async/work-queue.ts'
import type { Body } from '../download/file-body.ts'
import { NotFound, Unreadable } from '../errors.ts'
import type { Limits } from '../format/contract.ts'
import { openPageCache } from './cache.ts'
import { pageCounters } from './counters.ts'
import { openFronts } from './cover-image.ts'
import { pagesIn, slotAt } from './directory.ts'
import {
  type BookOfPages,
  directoryOf,
  type Engine,
  type Found,
  type Met,
  steadily,
} from './engine.ts'
import { openEpubs } from './epub.ts'
import { pageTag } from './etag.ts'
import type { Cover, CoverOrder } from './messages.ts'
import { derived, original } from './page-source.ts'
import { openPagePool, unknownWeight } from './pool.ts'
import { openRuns } from './readahead.ts'
import { type Asked, type Variant, variantOf } from './variant.ts'

/** `tag` is the strong entity tag of these bytes. `done` is to be called when the answer has left or failed. */
export type PageImage = Body & { mediaType: string; tag: string }

export type Pages = ReturnType<typeof openPages>

type Options = {
  /** Folder of the page cache, and the bytes that it may take; 0 keeps nothing. */
  folder: string
  cacheBytes: number
  limits: Limits
  /** 0 means one per core. */
  threads: number
  timeoutMs: number
  memoryMb: number
  onBug: (error: unknown) => void
}

// About 3,000 books of 200 pages.
const directoryBytes = 48 * 1024 * 1024

export function openPages({ folder, cacheBytes, limits, ...threads }: Options) {
  const engine: Engine = {
    limits,
    pool: openPagePool(threads),
    cache: openPageCache(folder, cacheBytes),
    directories: new LRUCache({
      maxSize: directoryBytes,
      sizeCalculation: ({ rows }) => rows.byteLength + 400,
    }),
    directoryFlights: openFlights(),
    imageFlights: openFlights(),
    runs: openRuns(),
  }
  return {
    /**
     * Page `index` (from 0) of a book. Without a size and a format its original bytes; else an image
     * that fits inside, never enlarged. Sizes are pixels, 1 to 10000, which the caller has checked.
     * What has to be made is not begun once `signal` has aborted.
     * Throws NotFound, Unreadable, Unavailable.
     */
    async image(
      book: BookOfPages,
      index: number,
      { signal, ...asked }: Asked & { signal?: AbortSignal } = {},
    ): Promise<PageImage> {
      pageCounters.requests += 1
      return await steadily(book, async (met, isKnown) => {
        const found = await imageOf(engine, { ...met, isKnown }, { index, asked, signal })
        return 'changed' in found ? found : { ...found, tag: pageTag(met, index, asked) }
      })
    },
    /** An image made of `bytes`. Throws Unreadable, Unavailable. */
    async convert(
      bytes: Uint8Array,
      variant: Variant,
    ): Promise<{ bytes: Uint8Array; mediaType: string }> {
      const order = { bytes, variant, keep: null }
      const made = await engine.pool.run('convert', order, { weighs: unknownWeight })
      return made as { bytes: Uint8Array; mediaType: string }
    },
    /** A cover made of `bytes`, with what these are. Throws Unreadable, Unavailable. */
    async cover(order: CoverOrder, signal?: AbortSignal): Promise<Cover> {
      return (await engine.pool.run('cover', order, { weighs: unknownWeight, signal })) as Cover
    },
    epubs: openEpubs(engine),
    fronts: openFronts(engine),
    cache: engine.cache,
    async close() {
      engine.cache.close()
      await engine.pool.close()
    },
  }
}

type Wanted = { index: number; asked: Asked; signal: AbortSignal | undefined }

async function imageOf(engine: Engine, book: Met, wanting: Wanted): Promise<Found> {
  const { index, asked, signal } = wanting
  const directory = await directoryOf(engine, book, signal)
  if ('changed' in directory) return directory
  if (index >= pagesIn(directory)) throw new NotFound('The book has no such page')
  const slot = slotAt(directory, index)
  const variant = variantOf(asked, slot)
  const wanted = { directory, index, slot, signal }
  if (variant === null) return original(engine, book, wanted)
  try {
    return await derived(engine, book, { ...wanted, variant })
  } catch (error) {
    // A size is a wish; what cannot be made smaller is sent as it is. A format is not.
    const isOfImage = error instanceof Unreadable && ofImage.has(error.code)
    const isOfFormat = asked.format === undefined || slot.mediaType === `image/${asked.format}`
    if (!isOfImage || !isOfFormat) throw error
    return original(engine, book, wanted)
  }
}

const ofImage = new Set<string>(['unsupported_image', 'too_large', 'timeout'])
