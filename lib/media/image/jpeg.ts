// JPEG header parser: frame size, components, EXIF orientation.
// jpeg: FF D8 segment*; segment: FF+ marker u16 length payload; the frame header (SOF) contains the size:
// u16 length, u8 precision, u16 height, u16 width, u8 components. EXIF is APP1 "Exif\0\0" tiff.
import { displaySize, type HeaderResult, matchesAt, u16be } from './primitives.ts'
import { readDirectory } from './tiff.ts'

export type JpegFrame = {
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
