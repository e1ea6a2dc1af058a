// Thumbnails as they are sent: small files read once and kept in memory for a while.
import { readFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { openFlights } from '../async/work-queue.ts'
import { Unreadable } from '../errors.ts'
import { type ThumbnailFormat, thumbnailPath } from '../image/thumbnail-path.ts'
import { pageCounters } from './counters.ts'
import type { Variant } from './variant.ts'

/** `tag` is a strong entity tag, with its quotes. */
export type Thumbnail = { bytes: Buffer; mediaType: string; tag: string }

export type Thumbnails = ReturnType<typeof openThumbnails>

type Options = {
  /** Folder of all thumbnails. */
  folder: string
  /** What new ones are written in; older ones may be of the other. */
  format: ThumbnailFormat
  convert: (bytes: Uint8Array, variant: Variant) => Promise<{ bytes: Uint8Array }>
}

/** Strong entity tag of the thumbnail of that name: its content never changes. */
export const thumbnailTag = (name: string): string => `"${name}"`

const mostBytes = 32 * 1024 * 1024

export function openThumbnails({ folder, format, convert }: Options) {
  const known = new LRUCache<string, Thumbnail>({
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 300,
  })
  const flight = openFlights<Thumbnail | null>()
  const formats: ThumbnailFormat[] = format === 'webp' ? ['webp', 'jpeg'] : ['jpeg', 'webp']

  const remembered = async (key: string, make: () => Promise<Thumbnail | null>) => {
    const made = known.get(key) ?? (await flight(key, make))
    if (made) known.set(key, made)
    return made
  }
  const stored = (name: string) =>
    remembered(name, async () => {
      for (const one of formats) {
        const bytes = await readThumbnail(thumbnailPath(folder, name, one))
        if (bytes) return { bytes, mediaType: `image/${one}`, tag: thumbnailTag(name) }
      }
      return null
    })
  return {
    /** The thumbnail of that name (hex, as in `book.cover`); null when its file is gone. Throws Unreadable `io`. */
    read: stored,
    /** The same as JPEG, for those who know no WebP. Throws Unreadable, Unavailable. */
    readJpeg: (name: string) =>
      remembered(`${name} jpeg`, async () => {
        const found = await stored(name)
        if (found === null || found.mediaType === 'image/jpeg') return found
        // A copy: what goes to a thread may be handed over.
        const { bytes } = await convert(Uint8Array.from(found.bytes), { format: 'jpeg' })
        return { bytes: Buffer.from(bytes), mediaType: 'image/jpeg', tag: `"${name}-jpeg"` }
      }),
    /** The placeholder as an image of that format. Throws Unreadable, Unavailable. */
    async drawing(format: NonNullable<Variant['format']> = 'jpeg'): Promise<Thumbnail> {
      const made = await remembered(`placeholder ${format}`, async () => {
        const { bytes } = await convert(Buffer.from(drawing), { format })
        return {
          bytes: Buffer.from(bytes),
          mediaType: `image/${format}`,
          tag: `"placeholder-${format}-1"`,
        }
      })
      return made!
    },
  }
}

async function readThumbnail(path: string): Promise<Buffer | null> {
  try {
    pageCounters.opens += 1
    const bytes = await readFile(path)
    pageCounters.bytesRead += bytes.length
    return bytes
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Unreadable(`The thumbnail cannot be read (${code})`, 'io', { cause })
  }
}

// A closed book, upright as covers are.
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 300" width="200" height="300">
<rect width="200" height="300" fill="#d9d5cc"/><rect width="14" height="300" fill="#bfb9ac"/>
<rect x="50" y="90" width="114" height="8" rx="4" fill="#a39c8d"/>
<rect x="50" y="110" width="80" height="8" rx="4" fill="#a39c8d"/></svg>`

/** Stands for a cover that is not made yet, or cannot be. */
export const placeholder: Thumbnail = {
  bytes: Buffer.from(drawing),
  mediaType: 'image/svg+xml',
  tag: '"placeholder-1"',
}
