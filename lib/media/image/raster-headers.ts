// Header parsers of PNG, GIF, WebP, BMP and JPEG XL.
// png:  89 "PNG\r\n" 1A 0A, chunk*; chunk: u32 length, name, payload, crc; IHDR: u32 width, u32 height
// gif:  "GIF8" ("7" | "9") "a" u16 width u16 height (little-endian)
// webp: "RIFF" u32 "WEBP" chunk; VP8: 14-bit sizes at 26; VP8L: 14 bits each at 21; VP8X: u24-1 at 24
// bmp:  "BM" u32 u32 u32 header; header: u32 size, then i16 pairs (size 12) or i32 pairs
// jxl:  a codestream, bare or in boxes (jxlc complete, jxlp in numbered parts): FF 0A, then bits, lowest first:
//   small(1), height, ratio(3), [width], default(1), [extra(1) orientation-1(3)]; small: 8*(1+u(5));
//   else selector(2) → 1 + u(9 | 13 | 18 | 30)
import { readBoxes } from './isobmff.ts'
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

/**
 * Whether the image is an animation: by the animation flag (2) of VP8X, a PNG's acTL before IDAT, or AVIF's brand "avis". GIF is
 * rarely used for anything else, and always counts as one.
 */
export function isAnimated(b: Uint8Array): boolean {
  if (matchesAt(b, 0, 'GIF8')) return true
  if (matchesAt(b, 0, 'RIFF')) return matchesAt(b, 8, 'WEBPVP8X') && (b[20]! & 2) !== 0
  if (matchesAt(b, 1, 'PNG')) return isAnimatedPng(b)
  return matchesAt(b, 4, 'ftypavis')
}

function isAnimatedPng(b: Uint8Array): boolean {
  for (let at = 8; at + 12 <= b.length; at += 12 + u32be(b, at)) {
    if (matchesAt(b, at + 4, 'acTL')) return true
    if (matchesAt(b, at + 4, 'IDAT')) return false
  }
  return false
}

const ratios = [
  [1, 1],
  [1, 1],
  [12, 10],
  [4, 3],
  [3, 2],
  [16, 9],
  [5, 4],
  [2, 1],
] as const
const widths = [9, 13, 18, 30] as const

export function readJxl(b: Uint8Array): HeaderResult {
  if (b[0] === 0xff) return readCodestream(b, 2)
  let end = 0
  for (const box of readBoxes(b, 0, Infinity)) {
    const at = box.type === 'jxlp' ? box.from + 4 : box.from
    if (box.type === 'jxlc' || box.type === 'jxlp') {
      if (at + 16 > b.length && at + 16 < box.to) return at + 16
      return matchesAt(b, at, '\xff\x0a') ? readCodestream(b, at + 2) : null
    }
    end = box.to
  }
  return Number.isFinite(end) ? end + 64 : null
}

function readCodestream(b: Uint8Array, from: number): HeaderResult {
  let bit = 0
  const u = (count: number) => {
    let value = 0
    for (let i = 0; i < count; i++, bit++)
      value += (((b[from + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) * 2 ** i
    return value
  }
  const isSmall = u(1) === 1
  const side = () => (isSmall ? 8 * (1 + u(5)) : 1 + u(widths[u(2)]!))
  const height = side()
  const ratio = u(3)
  const [x, y] = ratios[ratio]!
  const width = ratio === 0 ? side() : Math.floor((height * x) / y)
  const isDefault = u(1) === 1
  const orientation = !isDefault && u(1) === 1 ? u(3) + 1 : 1
  return displaySize(width, height, orientation)
}
