// Thumbnail reader: small cover files, read once and cached in memory, and placeholders for missing covers.
import { readFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../base/async/single-flight.ts'
import { isShortage, shortage, Unreadable } from '../base/errors.ts'
import { deliveryCounters } from '../download/counters.ts'
import { type ThumbnailFormat, thumbnailPath } from '../media/image/thumbnail-path.ts'
import type { Variant } from './variant.ts'

/** `etag` is a strong ETag, with its quotes. */
export type Thumbnail = { bytes: Buffer; mediaType: string; etag: string }

export type Thumbnails = ReturnType<typeof openThumbnails>

type Options = {
  /** Folder of all thumbnails. */
  folder: string
  /** Format of new thumbnails; older ones may have the other format. */
  format: ThumbnailFormat
  convert: (bytes: Uint8Array, variant: Variant) => Promise<{ bytes: Uint8Array }>
}

/** Strong ETag of a thumbnail: its name identifies its content. */
export const thumbnailEtag = (name: string): string => `"${name}"`

const maxCacheBytes = 32 * 1024 * 1024

export function openThumbnails({ folder, format, convert }: Options) {
  const cache = new LRUCache<string, Thumbnail>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 300,
  })
  const flight = createSingleFlight<Thumbnail | null>()
  const formats: ThumbnailFormat[] = format === 'webp' ? ['webp', 'jpeg'] : ['jpeg', 'webp']

  async function cached(key: string, load: () => Promise<Thumbnail | null>) {
    const thumbnail = cache.get(key) ?? (await flight(key, load))
    if (thumbnail) cache.set(key, thumbnail)
    return thumbnail
  }
  const read = (name: string) =>
    cached(name, async () => {
      for (const format of formats) {
        const bytes = await readThumbnail(thumbnailPath(folder, name, format))
        if (bytes) return { bytes, mediaType: `image/${format}`, etag: thumbnailEtag(name) }
      }
      return null
    })
  return {
    /**
     * The thumbnail with that name (hex, as in `book.cover`); null if its file does not exist. Throws
     * Unreadable `io`, Shortage.
     */
    read,
    /** Like `read`, as JPEG, for clients that do not support WebP. Throws Unreadable, Unavailable. */
    readJpeg: (name: string) =>
      cached(`${name} jpeg`, async () => {
        const thumbnail = await read(name)
        if (thumbnail === null || thumbnail.mediaType === 'image/jpeg') return thumbnail
        // A copy, because a buffer sent to a thread may be transferred.
        const { bytes } = await convert(Uint8Array.from(thumbnail.bytes), { format: 'jpeg' })
        return { bytes: Buffer.from(bytes), mediaType: 'image/jpeg', etag: `"${name}-jpeg"` }
      }),
    /** An image made from thumbnails and identified by its name. Throws what `make` throws. */
    async composed(
      name: string,
      make: () => Promise<{ bytes: Buffer; mediaType: string }>,
    ): Promise<Thumbnail> {
      const made = await cached(name, async () => ({
        ...(await make()),
        etag: thumbnailEtag(name),
      }))
      return made!
    },
    /** The placeholder as an image in that format. Throws Unreadable, Unavailable. */
    async placeholderAs(format: NonNullable<Variant['format']> = 'jpeg'): Promise<Thumbnail> {
      const thumbnail = await cached(`placeholder ${format}`, async () => {
        const { bytes } = await convert(Buffer.from(placeholderSvg), { format })
        return {
          bytes: Buffer.from(bytes),
          mediaType: `image/${format}`,
          etag: `"placeholder-${format}-1"`,
        }
      })
      return thumbnail!
    },
  }
}

async function readThumbnail(path: string): Promise<Buffer | null> {
  try {
    deliveryCounters.opens += 1
    const bytes = await readFile(path)
    deliveryCounters.bytesRead += bytes.length
    return bytes
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (isShortage(cause)) throw shortage(cause)
    throw new Unreadable(`The thumbnail cannot be read (${code})`, 'io', { cause })
  }
}

// A closed book in portrait format, like a cover.
const placeholderSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 300" width="200" height="300">
<rect width="200" height="300" fill="#d9d5cc"/><rect width="14" height="300" fill="#bfb9ac"/>
<rect x="50" y="90" width="114" height="8" rx="4" fill="#a39c8d"/>
<rect x="50" y="110" width="80" height="8" rx="4" fill="#a39c8d"/></svg>`

/** Sent in place of a cover that does not exist yet or cannot be generated. */
export const placeholder: Thumbnail = {
  bytes: Buffer.from(placeholderSvg),
  mediaType: 'image/svg+xml',
  etag: '"placeholder-1"',
}
