// BMP decoder: the prebuilt libvips has none.
// bmp:     "BM" u32 u32 u32 offset, header, [masks], palette, rows
// header:  u32 size 12: u16 width height planes bits, palette of BGR
//          u32 size ≥ 16: i32 width height, u16 planes bits, u32 compression, …, u32 colors at 32
// masks:   u32 red green blue [alpha], inside headers of ≥ 52 bytes, else after the header
// rows:    from the bottom unless height < 0, padded to 4 bytes; or run lengths (compression 1, 2)
import { Unreadable } from '../../base/errors.ts'
import { i32le, type RawImage, u16le, u32le } from './primitives.ts'

type Header = {
  width: number
  height: number
  isTopDown: boolean
  bits: number
  compression: number
  palette: Uint8Array
  /** Red, green, blue, alpha. */
  masks: [number, number, number, number]
  rowsAt: number
}

/** Throws Unreadable `unsupported_image`. The caller must have limited the number of pixels. */
export function decodeBmp(b: Uint8Array): RawImage {
  const header = readHeader(b)
  const { width, height } = header
  if (header.rowsAt >= b.length) throw new Unreadable('The BMP has no pixels', 'unsupported_image')
  const channels = header.masks[3] === 0 ? 3 : 4
  const data = new Uint8Array(width * height * channels)
  const raw: RawImage = { data, width, height, channels }
  const rle = header.compression === 1 ? 8 : header.compression === 2 ? 4 : 0
  if (rle !== 0) paintRuns(b, header, raw)
  else if (header.bits <= 8) paintIndexed(b, header, raw)
  else if (header.bits === 24) paintBgr(b, header, raw)
  else paintMasked(b, header, raw)
  return raw
}

function readHeader(b: Uint8Array): Header {
  const size = u32le(b, 14)
  const isCore = size === 12
  const height = isCore ? u16le(b, 20) : i32le(b, 22)
  const bits = u16le(b, isCore ? 24 : 28)
  const compression = isCore || size < 20 ? 0 : u32le(b, 30)
  // In OS/2 headers 3 and 4 have other meanings (Huffman, 24-bit runs), which are not supported.
  const known = [0, 1, 2, 3, 6].includes(compression) && !(compression >= 3 && size === 64)
  const isRun = compression === 1 || compression === 2
  if (!known || ![1, 2, 4, 8, 16, 24, 32].includes(bits) || (isRun && bits !== 8 / compression))
    throw new Unreadable(`BMP with ${bits} bits, compression ${compression}`, 'unsupported_image')
  const hasMasks = compression === 3 || compression === 6
  const behind = hasMasks && size < 52 ? (compression === 6 ? 16 : 12) : 0
  const paletteAt = 14 + size + behind
  const colors = bits > 8 ? 0 : Math.min((size >= 36 && u32le(b, 46)) || 256, 2 ** bits, 256)
  const step = isCore ? 3 : 4
  const declared = u32le(b, 10)
  const rowsAt = declared >= 14 + size ? declared : paletteAt + colors * step
  const room = Math.max(0, Math.min(colors, Math.floor((rowsAt - paletteAt) / step)))
  return {
    width: isCore ? u16le(b, 18) : i32le(b, 18),
    height: Math.abs(height),
    isTopDown: height < 0,
    bits,
    compression,
    palette: readPalette(b.subarray(paletteAt, paletteAt + room * step), step),
    masks: hasMasks ? readMasks(b, size) : bits === 16 ? [0x7c00, 0x3e0, 0x1f, 0] : eightBits,
    rowsAt,
  }
}

const eightBits: Header['masks'] = [0xff0000, 0xff00, 0xff, 0]

function readMasks(b: Uint8Array, size: number): Header['masks'] {
  const hasAlpha = size >= 56 || u32le(b, 30) === 6
  return [u32le(b, 54), u32le(b, 58), u32le(b, 62), hasAlpha ? u32le(b, 66) : 0]
}

/** 256 RGB triples; colors beyond the palette are black. */
function readPalette(b: Uint8Array, step: number): Uint8Array {
  const palette = new Uint8Array(768)
  for (let from = 0, to = 0; from + 2 < b.length && to < 768; from += step, to += 3) {
    palette[to] = b[from + 2]!
    palette[to + 1] = b[from + 1]!
    palette[to + 2] = b[from]!
  }
  return palette
}

/** Calls `paint` with the bytes of each row and its y; in a truncated file the remaining rows stay black. */
function eachRow(b: Uint8Array, header: Header, paint: (row: Uint8Array, y: number) => void): void {
  const stride = Math.ceil((header.width * header.bits) / 32) * 4
  for (let i = 0; i < header.height; i++) {
    const at = header.rowsAt + i * stride
    if (at >= b.length) return
    paint(b.subarray(at, at + stride), header.isTopDown ? i : header.height - 1 - i)
  }
}

function paintIndexed(b: Uint8Array, header: Header, { data, width }: RawImage): void {
  const { bits, palette } = header
  const mask = 2 ** bits - 1
  eachRow(b, header, (row, y) => {
    for (let x = 0, to = y * width * 3; x < width; x++, to += 3) {
      const bit = x * bits
      const color = (((row[bit >> 3] ?? 0) >> (8 - bits - (bit & 7))) & mask) * 3
      data[to] = palette[color]!
      data[to + 1] = palette[color + 1]!
      data[to + 2] = palette[color + 2]!
    }
  })
}

function paintBgr(b: Uint8Array, header: Header, { data, width }: RawImage): void {
  eachRow(b, header, (row, y) => {
    const end = Math.min(width * 3, row.length - (row.length % 3))
    for (let from = 0, to = y * width * 3; from < end; from += 3, to += 3) {
      data[to] = row[from + 2]!
      data[to + 1] = row[from + 1]!
      data[to + 2] = row[from]!
    }
  })
}

function paintMasked(b: Uint8Array, header: Header, { data, width, channels }: RawImage): void {
  const step = header.bits / 8
  const read = step === 2 ? u16le : u32le
  const parts = header.masks.slice(0, channels).map(scaler)
  eachRow(b, header, (row, y) => {
    let to = y * width * channels
    for (let x = 0, at = 0; x < width; x++, at += step) {
      const value = read(row, at)
      for (const part of parts) data[to++] = part(value)
    }
  })
}

/** Returns a function that scales a masked field of any width to 0-255. */
function scaler(mask: number): (value: number) => number {
  if (mask === 0) return () => 0
  const shift = 31 - Math.clz32(mask & -mask)
  const max = mask >>> shift
  return value => Math.round((((value & mask) >>> shift) * 255) / max)
}

function paintRuns(b: Uint8Array, header: Header, { data, width, height }: RawImage): void {
  const bits = header.compression === 1 ? 8 : 4
  const indexes = decodeRunLengths(b.subarray(header.rowsAt), { width, height, bits })
  for (let y = 0; y < height; y++) {
    const from = (header.isTopDown ? y : height - 1 - y) * width
    for (let x = 0, to = y * width * 3; x < width; x++, to += 3) {
      const color = indexes[from + x]! * 3
      data.set(header.palette.subarray(color, color + 3), to)
    }
  }
}

// Run-length encoding, 8 or 4 bits per pixel, decoded to one palette index per byte.
// runs: (count value | 00 escape)*; escape: 00 end of line | 01 end | 02 dx dy
//       | n: n literal pixels, padded to 2 bytes; 4-bit values contain two alternating pixels

type Area = { width: number; height: number; bits: 4 | 8 }

/** Rows in stored order. Pixels outside the area are ignored; pixels that are not set have index 0. */
export function decodeRunLengths(b: Uint8Array, { width, height, bits }: Area): Uint8Array {
  const out = new Uint8Array(width * height)
  let [x, y, at] = [0, 0, 0]
  const put = (index: number) => {
    if (x < width) out[y * width + x] = index
    x++
  }
  const pixel = (from: number, i: number) =>
    bits === 8 ? (b[from + i] ?? 0) : ((b[from + (i >> 1)] ?? 0) >> (i & 1 ? 0 : 4)) & 15
  while (at + 1 < b.length && y < height) {
    const [count, value] = [b[at]!, b[at + 1]!]
    at += 2
    if (count > 0) {
      for (let i = 0; i < count; i++) put(bits === 8 ? value : (value >> (i & 1 ? 0 : 4)) & 15)
    } else if (value === 0) {
      x = 0
      y++
    } else if (value === 1) break
    else if (value === 2) {
      x += b[at] ?? 0
      y += b[at + 1] ?? 0
      at += 2
    } else {
      for (let i = 0; i < value; i++) put(pixel(at, i))
      const bytes = bits === 8 ? value : (value + 1) >> 1
      at += bytes + (bytes & 1)
    }
  }
  return out
}
