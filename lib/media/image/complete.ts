// Checks by structure alone, without decoding, whether an image is complete: enough to send a page unchanged.
// png:  valid header, chunks with correct checksums up to IEND, as much data as the pixels can be packed into
import { crc32 } from 'node:zlib'
import { isCompleteJpeg } from './jpeg-structure.ts'
import { matchesAt, u16be, u32be } from './primitives.ts'

/** Whether the structure is complete; also false for formats whose structure is not conclusive. Never throws. */
export function isComplete(bytes: Uint8Array, mediaType: string): boolean {
  if (mediaType === 'image/jpeg') return isCompleteJpeg(bytes)
  return mediaType === 'image/png' && isCompletePng(bytes)
}

// Bit depths by color type.
const depths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const channelsOf: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
// The highest compression of deflate.
const maxRatio = 1032

function isCompletePng(b: Uint8Array): boolean {
  if (!matchesAt(b, 12, 'IHDR') || u32be(b, 8) !== 13) return false
  const [width, height] = [u32be(b, 16), u32be(b, 20)]
  const [depth, color, compression, filter, interlace] = b.subarray(24, 29)
  const isValid = depths[color!]?.includes(depth!) && compression === 0 && filter === 0
  if (!isValid || interlace! > 1 || width === 0 || height === 0) return false
  let dataBytes = 0
  let hasPalette = false
  for (let at = 8; at + 12 <= b.length; ) {
    const length = u32be(b, at)
    const end = at + 12 + length
    if (end > b.length || crc32(b.subarray(at + 4, end - 4)) !== u32be(b, end - 4)) return false
    if (matchesAt(b, at + 4, 'PLTE')) hasPalette = true
    else if (matchesAt(b, at + 4, 'IDAT')) {
      // CMF and FLG of zlib: deflate, together a multiple of 31.
      if (dataBytes === 0 && ((b[at + 8]! & 15) !== 8 || u16be(b, at + 8) % 31 !== 0)) return false
      dataBytes += length
    } else if (matchesAt(b, at + 4, 'IEND')) {
      const rawBytes = ((width * channelsOf[color!]! * depth!) / 8) * height
      return dataBytes * maxRatio >= rawBytes && dataBytes > 0 && (color !== 3 || hasPalette)
    }
    at = end
  }
  return false
}
