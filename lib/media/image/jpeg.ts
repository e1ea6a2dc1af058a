// JPEG and TIFF header parsers: frame size, components, EXIF orientation.
// jpeg: FF D8 segment*; segment: FF+ marker u16 length payload; the frame header (SOF) contains the size:
// u16 length, u8 precision, u16 height, u16 width, u8 components. EXIF is APP1 "Exif\0\0" tiff.
import {
  displaySize,
  type HeaderResult,
  matchesAt,
  u16be,
  u16le,
  u32be,
  u32le,
} from './primitives.ts'

type JpegFrame = {
  width: number
  height: number
  components: number
  isProgressive: boolean
  orientation: number
  /** Offset after the frame header. */
  end: number
}

/** The frame header and EXIF orientation, or the number of bytes needed, or null. */
export function readJpegFrame(b: Uint8Array): JpegFrame | number | null {
  let orientation = 1
  let at = 2
  while (at + 4 <= b.length) {
    if (b[at] !== 0xff) {
      // Skips stray bytes between segments, as every decoder does.
      at++
      continue
    }
    const marker = b[at + 1]!
    if (marker === 0xff) at++
    else if (marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else if (marker === 0xd9 || marker === 0xda) return null
    else if (isFrame(marker)) {
      if (at + 10 > b.length) return at + 10
      const isProgressive = (marker & 3) === 2
      const [height, width] = [u16be(b, at + 5), u16be(b, at + 7)]
      const end = at + 2 + u16be(b, at + 2)
      return { width, height, components: b[at + 9]!, isProgressive, orientation, end }
    } else {
      const length = u16be(b, at + 2)
      if (length < 2) return null
      const end = at + 2 + length
      if (end > b.length) return end + 512
      if (marker === 0xe1 && matchesAt(b, at + 4, 'Exif\0')) {
        const exif = readDirectory(b.subarray(0, end), at + 10)
        if (exif && typeof exif === 'object') orientation = exif.orientation
      }
      at = end
    }
  }
  return at + 512
}

// C4, C8 and CC among C0–CF are tables and an extension, not frames.
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Whether decoding needs the whole frame in memory: progressive, or one scan per component. */
export function decodesWholeFrame(b: Uint8Array): boolean {
  const frame = readJpegFrame(b)
  if (frame === null || typeof frame === 'number') return false
  if (frame.isProgressive) return true
  let at = frame.end
  while (at + 5 <= b.length) {
    if (b[at] !== 0xff) return false
    const marker = b[at + 1]!
    if (marker === 0xda) return b[at + 4]! < frame.components
    at += marker === 0xff ? 1 : 2 + u16be(b, at + 2)
  }
  return false
}

/** How many scans (SOS segments) a JPEG has. Never throws. */
export function countJpegScans(b: Uint8Array): number {
  const bytes = Buffer.from(b.buffer, b.byteOffset, b.length)
  let count = 0
  for (let at = bytes.indexOf(startOfScan); at >= 0; at = bytes.indexOf(startOfScan, at + 2))
    count++
  return count
}

// In entropy-coded data a byte FF is followed by 00, so this sequence occurs only between scans.
const startOfScan = Buffer.from([0xff, 0xda])

export function readJpeg(b: Uint8Array): HeaderResult {
  const frame = readJpegFrame(b)
  if (frame === null || typeof frame === 'number') return frame
  return displaySize(frame.width, frame.height, frame.orientation)
}

// tiff: ("II" | "MM") u16 42 (u32 offset) | u16 43 u16 8 u16 0 (u64 offset) → directory
// directory: count entry*; entry: u16 tag, u16 type, count, value or offset (12 bytes, BigTIFF 20)
type Directory = { width: number; height: number; orientation: number }

const maxEntries = 4096

/** The first directory of the TIFF at `start`, or the number of bytes needed to read it. */
function readDirectory(b: Uint8Array, start: number): Directory | number | null {
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
