// Media type and size of an image from its header, without decoding.
import { readHeif, readJp2, sniffBrand } from './isobmff.ts'
import { readJpeg, readTiff } from './jpeg.ts'
import { type HeaderReader, matchesAt, u32be, u32le } from './primitives.ts'
import { readBmp, readGif, readJxl, readPng, readWebp } from './raster-headers.ts'
import { isSvg, readSvg } from './svg.ts'

/** `width` and `height` are pixels as displayed; null if the header has no size. */
export type MeasuredImage = { mediaType: string; width: number | null; height: number | null }

const readers: Record<string, HeaderReader> = {
  'image/jpeg': readJpeg,
  'image/png': readPng,
  'image/gif': readGif,
  'image/webp': readWebp,
  'image/avif': readHeif,
  'image/heic': readHeif,
  'image/bmp': readBmp,
  'image/tiff': readTiff,
  'image/jxl': readJxl,
  'image/jp2': readJp2,
  'image/svg+xml': readSvg,
}

/** Media type by signature, or null for unknown formats. 16 bytes are sufficient except for SVG. */
export function sniffImage(head: Uint8Array): string | null {
  switch (head[0]) {
    case 0xff:
      if (head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
      if (head[1] === 0x0a) return 'image/jxl'
      return u32be(head, 0) === 0xff4fff51 ? 'image/jp2' : null
    case 0x89:
      return matchesAt(head, 1, 'PNG\r\n\x1a\n') ? 'image/png' : null
    case 0x47:
      return matchesAt(head, 1, 'IF87a') || matchesAt(head, 1, 'IF89a') ? 'image/gif' : null
    case 0x52:
      return matchesAt(head, 1, 'IFF') && matchesAt(head, 8, 'WEBP') ? 'image/webp' : null
    case 0x42:
      return isBmp(head) ? 'image/bmp' : null
    case 0x49:
    case 0x4d:
      return isTiff(head) ? 'image/tiff' : null
    case 0x00:
      if (matchesAt(head, 4, 'JXL \r\n\x87\n')) return 'image/jxl'
      if (matchesAt(head, 4, 'jP  \r\n\x87\n')) return 'image/jp2'
      return matchesAt(head, 4, 'ftyp') ? sniffBrand(head) : null
    default:
      return isSvg(head) ? 'image/svg+xml' : null
  }
}

// "BM" alone is too short a signature; the size of the second header is 12 to 124 in all versions.
const isBmp = (head: Uint8Array) =>
  head[1] === 0x4d && u32le(head, 14) >= 12 && u32le(head, 14) <= 256

const isTiff = (head: Uint8Array) =>
  ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'].some(signature => matchesAt(head, 0, signature))

// EXIF with a preview is at most 64 KiB; several ICC segments before the frame can reach 1 MiB.
const readSizes = [4096, 65_536, 1_048_576] as const
/** What `measureImage` reads first. */
export const measuredHeadBytes = readSizes[0]

/**
 * Measures an image from as few bytes as its header needs. `head(n)` returns at least the first n bytes,
 * fewer only if the image is shorter. Null if it is not an image; only throws errors of `head`.
 */
export async function measureImage(
  head: (bytes: number) => Promise<Uint8Array>,
): Promise<MeasuredImage | null> {
  let bytes = await head(readSizes[0])
  const mediaType = sniffImage(bytes)
  if (mediaType === null) return null
  const read = readers[mediaType]!
  for (;;) {
    const result = read(bytes)
    if (result === null) return { mediaType, width: null, height: null }
    if (typeof result === 'object') return { mediaType, ...result }
    const next = readSizes.find(size => size > bytes.length && size >= result)
    if (next === undefined) return { mediaType, width: null, height: null }
    const more = await head(next)
    if (more.length <= bytes.length) return { mediaType, width: null, height: null }
    bytes = more
  }
}
