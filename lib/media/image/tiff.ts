// TIFF header parser, also for EXIF.
// tiff: ("II" | "MM") u16 42 (u32 offset) | u16 43 u16 8 u16 0 (u64 offset) → directory
// directory: count entry*; entry: u16 tag, u16 type, count, value or offset (12 bytes, BigTIFF 20)
import { displaySize, type HeaderResult, u16be, u16le, u32be, u32le } from './primitives.ts'

type Directory = { width: number; height: number; orientation: number }

const maxEntries = 4096

/** The first directory of the TIFF at `start`, or the number of bytes needed to read it. */
export function readDirectory(b: Uint8Array, start: number): Directory | number | null {
  const isLittle = b[start] === 0x49
  const u16 = isLittle ? u16le : u16be
  const u32 = isLittle ? u32le : u32be
  const isBig = u16(b, start + 2) === 43
  // The upper half of a 64-bit offset is 0: larger files are not supported.
  const at = start + u32(b, start + (isBig ? (isLittle ? 8 : 12) : 4))
  const first = at + (isBig ? 8 : 2)
  if (first > b.length) return first + 512
  const count = u16(b, isBig && !isLittle ? at + 6 : at)
  if (count === 0 || count > maxEntries) return null
  const step = isBig ? 20 : 12
  const end = first + count * step
  if (end > b.length) return end
  const directory: Directory = { width: 0, height: 0, orientation: 1 }
  for (let i = first; i < end; i += step) {
    const tag = u16(b, i)
    if (tag !== 256 && tag !== 257 && tag !== 274) continue
    const value = readValue(b, i, { isBig, isLittle })
    if (tag === 256) directory.width = value
    else if (tag === 257) directory.height = value
    else directory.orientation = value
  }
  return directory
}

function readValue(b: Uint8Array, at: number, kind: { isBig: boolean; isLittle: boolean }): number {
  const u16 = kind.isLittle ? u16le : u16be
  const u32 = kind.isLittle ? u32le : u32be
  const type = u16(b, at + 2)
  const value = at + (kind.isBig ? 12 : 8)
  if (type === 3) return u16(b, value)
  if (type === 4) return u32(b, value)
  if (type === 16) return u32(b, kind.isLittle ? value : value + 4)
  return 0
}

export function readTiff(b: Uint8Array): HeaderResult {
  const directory = readDirectory(b, 0)
  if (directory === null || typeof directory === 'number') return directory
  return displaySize(directory.width, directory.height, directory.orientation)
}
