// Headers with the size at a fixed place: PNG, GIF, WebP, BMP, JPEG 2000 codestream.
// png:  89 "PNG\r\n" 1A 0A, chunk*; chunk: u32 length, name, payload, crc; IHDR: u32 width, u32 height
// gif:  "GIF8" ("7" | "9") "a" u16 width u16 height (little-endian)
// webp: "RIFF" u32 "WEBP" chunk; VP8: 14-bit sizes at 26; VP8L: 14 bits each at 21; VP8X: u24-1 at 24
// bmp:  "BM" u32 u32 u32 header; header: u32 size, then i16 pairs (size 12) or i32 pairs
import { i32le, isAt, u16le, u24le, u32be, u32le } from './bytes.ts'
import { type Answer, displayed } from './size.ts'

export function readPng(b: Uint8Array): Answer {
  // Apple's CgBI chunk stands before IHDR and makes the file one that only Apple decodes.
  const at = isAt(b, 12, 'CgBI') ? 28 : 12
  return isAt(b, at, 'IHDR') ? displayed(u32be(b, at + 4), u32be(b, at + 8)) : null
}

export const readGif = (b: Uint8Array): Answer => displayed(u16le(b, 6), u16le(b, 8))

export function readWebp(b: Uint8Array): Answer {
  if (isAt(b, 12, 'VP8 ')) return displayed(u16le(b, 26) & 0x3fff, u16le(b, 28) & 0x3fff)
  if (isAt(b, 12, 'VP8L')) {
    const bits = u32le(b, 21)
    return b[20] === 0x2f ? displayed((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1) : null
  }
  if (isAt(b, 12, 'VP8X')) return displayed(u24le(b, 24) + 1, u24le(b, 27) + 1)
  return null
}

export function readBmp(b: Uint8Array): Answer {
  if (u32le(b, 14) === 12) return displayed(u16le(b, 18), u16le(b, 20))
  return displayed(i32le(b, 18), Math.abs(i32le(b, 22)))
}

/** JPEG 2000 codestream: FF4F FF51 u16 u16 capabilities, u32 x, y, x offset, y offset. */
export const readJ2k = (b: Uint8Array, at = 0): Answer =>
  displayed(u32be(b, at + 8) - u32be(b, at + 16), u32be(b, at + 12) - u32be(b, at + 20))
