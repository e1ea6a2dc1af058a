// Page sources: the original bytes of a page and images derived from it, from the file, the page cache or a
// page thread.
import { Unreadable } from '../base/errors.ts'
import { deliveryCounters } from '../download/counters.ts'
import { bufferedBody, discardBody } from '../download/file-body.ts'
import { isRendered } from '../media/format/formats.ts'
import { isComplete } from '../media/image/complete.ts'
import { sniffImage } from '../media/image/image.ts'
import type { CacheTarget } from './cache-write.ts'
import { readDirect } from './direct.ts'
import {
  forgetLocation,
  markStale,
  type PageDirectory,
  type PageSlot,
  pageCountOf,
  setVerdict,
  slotAt,
} from './directory.ts'
import {
  type BookSnapshot,
  bookRefOf,
  type Engine,
  fileOf,
  flightKey,
  type ImageBody,
} from './engine.ts'
import { failureKey, pageCacheKey, pagesKey } from './etag.ts'
import type { FileChanged, RenderedImage } from './messages.ts'
import { type Client, unknownWeight } from './pool.ts'
import { isThumbnail, type Variant } from './variant.ts'

export type PageLocation = {
  directory: PageDirectory
  index: number
  slot: PageSlot
  client: Client
}

/**
 * The bytes of the page as stored in the book; for PDF its JPEG, or a rendering. A page of which tolerant
 * decoders only show a part is reencoded. Verified once per version of the file. Throws Unreadable for a page
 * that does not decode.
 */
export async function originalPage(
  engine: Engine,
  book: BookSnapshot,
  page: PageLocation,
): Promise<ImageBody> {
  const { slot, directory, index } = page
  if (slot.verdict === 'damaged') {
    const format = repairFormats.find(name => slot.mediaType === `image/${name}`) ?? 'jpeg'
    return derivedPage(engine, book, { ...page, variant: { format } })
  }
  const image = await readOriginal(engine, book, page)
  // Looked up again: the file may have turned out to be a different one.
  if ('changed' in image || slotAt(directory, index).verdict === 'sound') return image
  if (Buffer.isBuffer(image.body) && isComplete(image.body, image.mediaType)) {
    setVerdict(directory, index, 'sound')
    return image
  }
  discardBody(image)
  const changed = await verifyPage(engine, book, page)
  return changed ?? originalPage(engine, book, { ...page, slot: slotAt(directory, index) })
}

/** Decodes the page once for all concurrent requests. */
async function verifyPage(
  engine: Engine,
  book: BookSnapshot,
  { directory, index, slot, client }: PageLocation,
): Promise<FileChanged | null> {
  const verify = async (signal: AbortSignal) => {
    const request = {
      book: bookRefOf(engine, book),
      index,
      cachedOriginal: cachedOriginalOf(engine, book, { directory, index }),
    }
    return engine.pool.run('verify', request, {
      weight: weightOf(slot),
      client: { ...client, signal },
      failureKey: failureKey(book, `verify ${index}`),
    })
  }
  const key = flightKey(`${pagesKey(book)} ${index}`, client)
  const result = await engine.verifications(key, verify, client.signal)
  if ('changed' in result) return result
  setVerdict(directory, index, result.verdict)
  if (result.sizeBytes !== slot.sizeBytes) forgetLocation(directory, index)
  return null
}

const repairFormats = ['png', 'webp', 'gif'] as const

async function readOriginal(
  engine: Engine,
  book: BookSnapshot,
  page: PageLocation,
): Promise<ImageBody> {
  const { index, slot, directory, client } = page
  if (slot.offset >= 0) {
    if (slot.sizeBytes > engine.limits.entryBytes)
      throw new Unreadable('The page is too large', 'too_large')
    const result = await readDirect(fileOf(engine, book), page)
    if (!('mismatch' in result)) return 'page' in result ? result.page : result
    if (directory.isCataloged) markStale(directory)
  }
  const isCacheable = isExpensive(book, directory)
  const key = pageCacheKey(book, index, null)
  const cached = isCacheable ? await readCached(engine, key, slot.mediaType) : null
  if (cached) return cached
  if (directory.isSolid && engine.cache.isEnabled) {
    const changed = await unpackRun(engine, book, page)
    const unpacked = changed ?? (await readCached(engine, key, slot.mediaType))
    if (unpacked) return unpacked
  }
  const render = async (target: CacheTarget | null, client: Client) => {
    const request = {
      book: bookRefOf(engine, book),
      index,
      variant: null,
      target: isCacheable ? target : null,
      cachedOriginal: null,
    }
    return engine.pool.run('page', request, pageRun(book, page, client))
  }
  return makeImage(engine, isCacheable ? key : `${key} uncached`, { render, client })
}

type RunPage = PageLocation & { variant?: Variant }

/** Options of a run that reads and decodes the page. */
const pageRun = (book: BookSnapshot, { slot, index, variant }: RunPage, client: Client) => ({
  weight: weightOf(slot),
  client,
  isDeferrable: variant !== undefined && isThumbnail(variant),
  failureKey: failureKey(book, `page ${index}`),
})

/** Where the original bytes may be cached. */
const cachedOriginalOf = (
  engine: Engine,
  book: BookSnapshot,
  { directory, index }: Pick<PageLocation, 'directory' | 'index'>,
) => (isExpensive(book, directory) ? engine.cache.target(pageCacheKey(book, index, null)) : null)

/** The page rendered as `variant`. */
export async function derivedPage(
  engine: Engine,
  book: BookSnapshot,
  page: PageLocation & { variant: Variant },
): Promise<ImageBody> {
  const { index, directory, variant, client } = page
  const key = pageCacheKey(book, index, variant)
  const cached = await readCached(engine, key, `image/${variant.format}`)
  if (cached) return cached
  const cachedOriginal = cachedOriginalOf(engine, book, page)
  if (directory.isSolid && engine.cache.isEnabled) {
    const changed = await unpackRun(engine, book, page)
    if (changed) return changed
  }
  const render = async (target: CacheTarget | null, client: Client) => {
    const request = { book: bookRefOf(engine, book), index, variant, target, cachedOriginal }
    return engine.pool.run('page', request, pageRun(book, page, client))
  }
  return makeImage(engine, key, { render, client })
}

/** Whether original pages are cached because they take long to unpack or render. */
const isExpensive = (book: BookSnapshot, directory: PageDirectory) =>
  directory.isSolid || isRendered(book.format)

/**
 * Unpacks the page of a solid archive, and a run of the pages after it, to the cache. Only one run per book
 * is unpacked at a time: a request that had to wait usually finds its page in the cache.
 */
async function unpackRun(
  engine: Engine,
  book: BookSnapshot,
  page: PageLocation,
): Promise<FileChanged | null> {
  const { index, directory, client } = page
  return engine.readAhead.run(flightKey(pagesKey(book), client), async nextLength => {
    if (engine.cache.has(pageCacheKey(book, index, null))) return null
    const end = Math.min(index + nextLength(index), pageCountOf(directory))
    const targets: CacheTarget[] = []
    let sizeBytes = 0
    for (let i = index; i < end; i++) {
      sizeBytes += slotAt(directory, i).sizeBytes
      if (targets.length > 0 && sizeBytes > engine.cache.maxBytes / 4) break
      const target = engine.cache.target(pageCacheKey(book, i, null))
      if (target === null) return null
      targets.push(target)
    }
    const request = { book: bookRefOf(engine, book), index, targets }
    const image = await engine.pool.run('unpackRun', request, pageRun(book, page, client))
    if ('changed' in image) return image
    engine.cache.addWritten(image.written)
    return null
  })
}

type Rendering = {
  render: (target: CacheTarget | null, client: Client) => Promise<RenderedImage | FileChanged>
  client: Client
}

/** Renders an image once for all concurrent requests, caches it and returns it. */
export async function makeImage(
  engine: Engine,
  key: string,
  { render, client }: Rendering,
): Promise<ImageBody> {
  // If it is evicted before it can be read back, it is rendered again without the cache.
  for (const target of [engine.cache.target(key), null]) {
    const renderAndIndex = async (signal: AbortSignal) => {
      const image = await render(target, { ...client, signal })
      if ('written' in image) engine.cache.addWritten(image.written)
      return image
    }
    const image = await engine.imageLoads(
      flightKey(`${key} ${target !== null}`, client),
      renderAndIndex,
      client.signal,
    )
    if ('changed' in image) return image
    const { bytes, mediaType } = image
    if (bytes)
      return {
        ...bufferedBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
        mediaType,
      }
    const cached = await engine.cache.read(key)
    if (cached) return { ...cached, mediaType }
  }
  throw new Unreadable('The rendered page could not be read back', 'io')
}

/** The cached image with that key, or null. */
export async function readCached(engine: Engine, key: string, mediaType: string) {
  const cached = await engine.cache.read(key)
  if (cached === null) return null
  deliveryCounters.cached += 1
  const sniffed = Buffer.isBuffer(cached.body) && sniffImage(cached.body)
  return { ...cached, mediaType: sniffed || mediaType }
}

const channels = 4

/** Rough upper bound of the memory that decoding takes, in bytes. */
function weightOf({ width, height, sizeBytes }: PageSlot): number {
  const pixelBytes = width * height * channels
  return pixelBytes > 0 ? pixelBytes + sizeBytes * 2 : unknownWeight
}
