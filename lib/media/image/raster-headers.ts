// Header parsers of formats with the size at a fixed offset: PNG, GIF, WebP, BMP, JPEG 2000 codestream.
// png:  89 "PNG\r\n" 1A 0A, chunk*; chunk: u32 length, name, payload, crc; IHDR: u32 width, u32 height
// gif:  "GIF8" ("7" | "9") "a" u16 width u16 height (little-endian)
// webp: "RIFF" u32 "WEBP" chunk; VP8: 14-bit sizes at 26; VP8L: 14 bits each at 21; VP8X: u24-1 at 24
// bmp:  "BM" u32 u32 u32 header; header: u32 size, then i16 pairs (size 12) or i32 pairs
import {
  displaySize,
  type HeaderResult,
  i32le,
  matchesAt,
  u16le,
  u24le,
  u32be,
  u32le,
} from './primitives.ts'

export function readPng(b: Uint8Array): HeaderResult {
  // Apple's CgBI chunk precedes IHDR (only Apple software decodes such files).
  const at = matchesAt(b, 12, 'CgBI') ? 28 : 12
  return matchesAt(b, at, 'IHDR') ? displaySize(u32be(b, at + 4), u32be(b, at + 8)) : null
}

export const readGif = (b: Uint8Array): HeaderResult => displaySize(u16le(b, 6), u16le(b, 8))

export function readWebp(b: Uint8Array): HeaderResult {
  if (matchesAt(b, 12, 'VP8 ')) return displaySize(u16le(b, 26) & 0x3fff, u16le(b, 28) & 0x3fff)
  if (matchesAt(b, 12, 'VP8L')) {
    const bits = u32le(b, 21)
    return b[20] === 0x2f ? displaySize((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1) : null
  }
  if (matchesAt(b, 12, 'VP8X')) return displaySize(u24le(b, 24) + 1, u24le(b, 27) + 1)
  return null
}

export function readBmp(b: Uint8Array): HeaderResult {
  if (u32le(b, 14) === 12) return displaySize(u16le(b, 18), u16le(b, 20))
  return displaySize(i32le(b, 18), Math.abs(i32le(b, 22)))
}

/** JPEG 2000 codestream: FF4F FF51 u16 u16 capabilities, u32 x, y, x offset, y offset. */
export const readJ2k = (b: Uint8Array, at = 0): HeaderResult =>
  displaySize(u32be(b, at + 8) - u32be(b, at + 16), u32be(b, at + 12) - u32be(b, at + 20))
