// Page service: images of pages. Original bytes are read straight from the file if possible; everything else
// is produced by page threads and cached on disk.
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../base/async/single-flight.ts'
import type { FileAccess } from '../base/containment.ts'
import { NotFound, Unreadable } from '../base/errors.ts'
import { deliveryCounters } from '../download/counters.ts'
import type { FileBody } from '../download/file-body.ts'
import type { Limits } from '../media/archive/limits.ts'
import { openPageCache } from './cache.ts'
import { createCoverImages } from './cover-image.ts'
import { createDirectory, type PageDirectory, pageCountOf, slotAt } from './directory.ts'
import {
  type BookSnapshot,
  bookRefOf,
  createReadAhead,
  type Engine,
  flightKey,
  type ImageBody,
  type PageBook,
  retryOnChange,
} from './engine.ts'
import { createEpubReader } from './epub.ts'
import { failureKey, pageEtag, pagesKey } from './etag.ts'
import { createFailures } from './failures.ts'
import type { FileChanged, MadeCover, MakeCoverRequest, MakeMosaicRequest } from './messages.ts'
import { unpackPageList } from './page-list.ts'
import { derivedPage, originalPage } from './page-source.ts'
import { type Client, openPagePool, unknownWeight } from './pool.ts'
import { createTexts } from './text.ts'
import { chooseVariant, type ImageOptions, type Variant } from './variant.ts'

/**
 * `etag` is the strong ETag of these bytes. `release` must be called once the response was sent or has
 * failed.
 */
export type PageImage = FileBody & { mediaType: string; etag: string }

export type Pages = ReturnType<typeof openPages>

type Options = {
  /** Folder of the page cache. */
  folder: string
  /** Size limit of the page cache; 0 disables it. */
  cacheBytes: number
  /** Whether the cache's disk has enough space. */
  canStore?: () => boolean
  limits: Limits
  /** Read on each use, because the configuration can be reloaded. */
  access: () => FileAccess
  /** 0 means one per core. */
  threads: number
  timeoutMs: number
  memoryMb: number
  onBug: (error: unknown) => void
}

// About 3,000 books of 200 pages.
const directoryCacheBytes = 48 * 1024 * 1024

export function openPages({
  folder,
  cacheBytes,
  canStore,
  limits,
  access,
  threads,
  ...options
}: Options) {
  const cache = openPageCache(folder, cacheBytes, canStore)
  const failures = createFailures(cache)
  const engine: Engine = {
    limits,
    access,
    pool: openPagePool({ ...options, maxThreads: threads, failures }),
    cache,
    directories: new LRUCache({
      maxSize: directoryCacheBytes,
      sizeCalculation: ({ rows }) => rows.byteLength + 400,
    }),
    directoryLoads: createSingleFlight(),
    imageLoads: createSingleFlight(),
    verifications: createSingleFlight(),
    readAhead: createReadAhead(),
  }
  return {
    /**
     * Page `index` (from 0) of a book. Without size and format, its original bytes; otherwise an image that
     * fits the size, never enlarged. Sizes are pixels, 1 to 10000, checked by the caller. Rendering does not
     * start if the client has already aborted. Throws NotFound, Unreadable, Unavailable.
     */
    async image(
      book: PageBook,
      index: number,
      { client = {}, ...options }: ImageOptions & { client?: Client } = {},
    ): Promise<PageImage> {
      deliveryCounters.requests += 1
      return await retryOnChange(book, async (current, isCataloged) => {
        const snapshot = { ...current, isCataloged }
        const image = await loadImage(engine, snapshot, { index, options, client })
        return 'changed' in image ? image : { ...image, etag: pageEtag(current, index, options) }
      })
    },
    /** Converts an image. Throws Unreadable, Unavailable. */
    async convert(
      bytes: Uint8Array,
      variant: Variant,
    ): Promise<{ bytes: Uint8Array; mediaType: string }> {
      const request = { bytes, variant, target: null }
      const image = await engine.pool.run('convert', request, { weight: unknownWeight })
      return image as { bytes: Uint8Array; mediaType: string }
    },
    /** Creates a cover thumbnail of an image. Throws Unreadable, Unavailable. */
    async cover(request: MakeCoverRequest, client: Client = {}): Promise<MadeCover> {
      const options = { weight: unknownWeight, client }
      return (await engine.pool.run('cover', request, options)) as MadeCover
    },
    /** Combines images that are already thumbnails. Throws Unreadable, Unavailable. */
    async mosaic(request: MakeMosaicRequest, client: Client = {}): Promise<Uint8Array> {
      const options = { weight: unknownWeight, client }
      return ((await engine.pool.run('mosaic', request, options)) as { bytes: Uint8Array }).bytes
    },
    epubs: createEpubReader(engine),
    texts: createTexts(engine),
    coverImages: createCoverImages(engine),
    cache: engine.cache,
    async close() {
      engine.cache.close()
      await engine.pool.close()
    },
  }
}

async function loadImage(
  engine: Engine,
  book: BookSnapshot,
  { index, options, client }: { index: number; options: ImageOptions; client: Client },
): Promise<ImageBody> {
  const directory = await loadDirectory(engine, book, client)
  if ('changed' in directory) return directory
  if (index >= pageCountOf(directory)) throw new NotFound('The book has no such page')
  const slot = slotAt(directory, index)
  const variant = chooseVariant(options, slot)
  const page = { directory, index, slot, client }
  if (variant === null) return originalPage(engine, book, page)
  try {
    return await derivedPage(engine, book, { ...page, variant })
  } catch (error) {
    // The size is optional: an image that cannot be scaled is sent unchanged. The format is not.
    const isImageError = error instanceof Unreadable && imageErrors.has(error.code)
    const hasFormat = options.format === undefined || slot.mediaType === `image/${options.format}`
    if (!isImageError || !hasFormat) throw error
    return originalPage(engine, book, page)
  }
}

const imageErrors = new Set<string>(['unsupported_image', 'too_large', 'timeout'])

/** The page directory of a book. Throws NotFound, Unreadable, Unavailable. */
async function loadDirectory(
  engine: Engine,
  book: BookSnapshot,
  client: Client = {},
): Promise<PageDirectory | FileChanged> {
  const key = pagesKey(book)
  const cached = engine.directories.get(key)
  if (cached && !cached.isStale) return cached
  const load = async (signal: AbortSignal) => {
    deliveryCounters.directories += 1
    const request = bookRefOf(engine, book)
    const runThread = () =>
      engine.pool.run('directory', request, {
        weight: 1,
        client: { ...client, signal },
        failureKey: failureKey(book, 'directory'),
      })
    const stored = cached ? null : catalogedDirectory(book)
    const result = stored ?? (await runThread())
    if ('rows' in result) engine.directories.set(key, result)
    return result
  }
  return engine.directoryLoads(flightKey(key, client), load, client.signal)
}

// Unpacking a list of a few hundred pages takes this thread a fraction of a millisecond.
const maxPackedBytes = 32 * 1024

/** The directory as stored by the scan; null for a book that a thread must read. */
function catalogedDirectory({ isCataloged, pages }: BookSnapshot): PageDirectory | null {
  if (!isCataloged || pages === null || pages.length > maxPackedBytes) return null
  const { pages: stored, changedMs } = unpackPageList(pages)
  return changedMs === null ? null : createDirectory(stored, { isCataloged: true, changedMs })
}
