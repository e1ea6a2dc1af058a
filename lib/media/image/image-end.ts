// End of an image in its file: what decoders read, without bytes that follow it.
// gif: header, u16 width, u16 height, u8 flags, u8, u8, [palette], block*, 3B; block: 2C u16 × 4, u8 flags,
// [palette], u8, data or 21 u8 data; data: (u8 length, bytes)*, 0; a palette has 3 * 2 ** ((flags & 7) + 1) bytes
import { readBoxes } from './isobmff.ts'
import { findMarker } from './jpeg-structure.ts'
import { matchesAt, u16be, u32be, u32le } from './primitives.ts'

/**
 * Bytes up to the end of the image; everything if the format has no end marker or the structure is damaged.
 * Never throws.
 */
export function imageEnd(bytes: Uint8Array, mediaType: string): number {
  const end = readers[mediaType]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) ?? 0
  return end > 0 && end < bytes.length ? end : bytes.length
}

/** Null if there is no end. */
const readers: Record<string, (b: Buffer) => number | null> = {
  'image/jpeg': jpegEnd,
  'image/png': pngEnd,
  'image/gif': gifEnd,
  'image/webp': b => 8 + u32le(b, 4) + (u32le(b, 4) & 1),
  'image/avif': boxesEnd,
  'image/heic': boxesEnd,
  'image/jp2': boxesEnd,
  'image/jxl': boxesEnd,
}

function jpegEnd(b: Buffer): number | null {
  for (let at = 2; at + 2 <= b.length; ) {
    const marker = b[at + 1]!
    // Skips stray and fill bytes between segments, as every decoder does.
    if (b[at] !== 0xff || marker === 0xff) at += 1
    else if (marker === 0xd9) return at + 2
    else if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else {
      at += 2 + Math.max(2, u16be(b, at + 2))
      if (marker === 0xda) at = findMarker(b, at)
    }
  }
  return null
}

function pngEnd(b: Buffer): number | null {
  for (let at = 8; at + 12 <= b.length; at += 12 + u32be(b, at))
    if (matchesAt(b, at + 4, 'IEND')) return at + 12
  return null
}

function gifEnd(b: Buffer): number | null {
  const palette = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + palette(b[10] ?? 0)
  while (at < b.length) {
    if (b[at] === 0x3b) return at + 1
    if (b[at] === 0x2c) at += 11 + palette(b[at + 9] ?? 0)
    else if (b[at] === 0x21) at += 2
    else return null
    while (at < b.length && b[at] !== 0) at += 1 + b[at]!
    at += 1
  }
  return null
}

const boxTypes = new Set(
  'ftyp meta mdat moov free skip uuid idat Exif xml jp2h jp2c JXL jxlc jxlp jxll jbrd brob jP'.split(
    ' ',
  ),
)

function boxesEnd(b: Buffer): number | null {
  let end = 0
  for (const box of readBoxes(b, 0, b.length)) {
    if (!boxTypes.has(box.type.trim())) break
    end = box.to
  }
  return end
}
