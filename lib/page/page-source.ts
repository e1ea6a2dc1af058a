// The two ways to a page: its original bytes, and an image derived from them.

import { held } from '../download/file-body.ts'
import { Unreadable } from '../errors.ts'
import { sniffImage } from '../image/image.ts'
import type { Keep } from './cache-write.ts'
import { pageCounters } from './counters.ts'
import { readDirect } from './direct.ts'
import { type Directory, pagesIn, type Slot, slotAt } from './directory.ts'
import { type Engine, type Found, type Met, placeOf } from './engine.ts'
import { pageKey, versionKey } from './etag.ts'
import type { Image } from './messages.ts'
import { type Changed, unknownWeight } from './pool.ts'
import type { Variant } from './variant.ts'

export type At = {
  directory: Directory
  index: number
  slot: Slot
  signal: AbortSignal | undefined
}

/** The bytes of the page as they are in the book; of a PDF its JPEG, or a rendering. */
export async function original(engine: Engine, book: Met, at: At): Promise<Found> {
  const { index, slot, directory } = at
  if (slot.at >= 0) {
    if (slot.bytes > engine.limits.entryBytes)
      throw new Unreadable('The page is too large', 'too_large')
    const found = await readDirect(book.path, book, at)
    if (!('odd' in found)) return 'page' in found ? found.page : found
  }
  // What takes long to come by is kept; a page that is packed by itself is not.
  const isKept = directory.solid || book.format === 'pdf'
  const key = pageKey(book, index, null)
  const kept = isKept ? await fromCache(engine, key, slot.mediaType) : null
  if (kept) return kept
  if (directory.solid && engine.cache.isOn) {
    const changed = await unpackRun(engine, book, at)
    const unpacked = changed ?? (await fromCache(engine, key, slot.mediaType))
    if (unpacked) return unpacked
  }
  const make = async (keep: Keep | null, signal: AbortSignal) => {
    const place = await placeOf(engine, book)
    const order = { place, index, variant: null, keep: isKept ? keep : null, source: null }
    return engine.pool.run('page', order, { weighs: weightOf(slot), signal })
  }
  return made(engine, isKept ? key : `${key} as it is`, { make, signal: at.signal })
}

/** The page made into `variant`. */
export async function derived(
  engine: Engine,
  book: Met,
  at: At & { variant: Variant },
): Promise<Found> {
  const { index, slot, directory, variant } = at
  const key = pageKey(book, index, variant)
  const kept = await fromCache(engine, key, `image/${variant.format}`)
  if (kept) return kept
  const isKept = directory.solid || book.format === 'pdf'
  const source = isKept ? engine.cache.place(pageKey(book, index, null)) : null
  if (directory.solid && engine.cache.isOn) {
    const changed = await unpackRun(engine, book, at)
    if (changed) return changed
  }
  const make = async (keep: Keep | null, signal: AbortSignal) => {
    const order = { place: await placeOf(engine, book), index, variant, keep, source }
    return engine.pool.run('page', order, { weighs: weightOf(slot), signal })
  }
  return made(engine, key, { make, signal: at.signal })
}

/**
 * Sees to it that the page of a solid archive is kept, with a run of those behind it. One run of a book
 * is unpacked at a time: whoever waited mostly finds the page there.
 */
async function unpackRun(engine: Engine, book: Met, at: At): Promise<Changed | null> {
  const { index, slot, directory, signal } = at
  return engine.runs.inTurn(versionKey(book), async nextLength => {
    if (engine.cache.has(pageKey(book, index, null))) return null
    const most = Math.min(nextLength(index), pagesIn(directory) - index)
    const keeps: Keep[] = []
    let bytes = 0
    for (let i = index; i < index + most; i++) {
      bytes += slotAt(directory, i).bytes
      if (keeps.length > 0 && bytes > engine.cache.mostBytes / 4) break
      keeps.push(engine.cache.place(pageKey(book, i, null))!)
    }
    const place = await placeOf(engine, book)
    const order = { place, index, keeps }
    const image = await engine.pool.run('run', order, { weighs: weightOf(slot), signal })
    if ('changed' in image) return image
    engine.cache.took(image.kept)
    return null
  })
}

type Making = {
  make: (keep: Keep | null, signal: AbortSignal) => Promise<Image | Changed>
  signal: AbortSignal | undefined
}

/** Makes an image once for all that ask for it now, keeps it, and sends what was kept. */
export async function made(engine: Engine, key: string, { make, signal }: Making): Promise<Found> {
  // Where it was dropped before it could be sent, it is made again and not kept.
  for (const keep of [engine.cache.place(key), null]) {
    const once = async (signal: AbortSignal) => {
      const image = await make(keep, signal)
      if ('kept' in image) engine.cache.took(image.kept)
      return image
    }
    const image = await engine.imageFlights(`${key} ${keep !== null}`, once, signal)
    if ('changed' in image) return image
    const { bytes, mediaType } = image
    if (bytes)
      return { ...held(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)), mediaType }
    const kept = await engine.cache.read(key)
    if (kept) return { ...kept, mediaType }
  }
  throw new Unreadable('The page was made and lost again', 'io')
}

/** What was kept under that key, or null. */
export async function fromCache(engine: Engine, key: string, mediaType: string) {
  const kept = await engine.cache.read(key)
  if (kept === null) return null
  pageCounters.cached += 1
  return { ...kept, mediaType: (Buffer.isBuffer(kept.body) && sniffImage(kept.body)) || mediaType }
}

const channels = 4

/** Working memory that decoding will take at most, roughly. */
function weightOf({ width, height, bytes }: Slot): number {
  const pixels = width * height * channels
  return pixels > 0 ? pixels + bytes * 2 : unknownWeight
}
