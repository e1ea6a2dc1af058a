// Byte readers and types shared by the image header parsers and decoders.

/** Decoded pixels in the form that sharp accepts: 8 bits per channel, rows from the top, sRGB. */
export type RawImage = { data: Uint8Array; width: number; height: number; channels: 3 | 4 }

/** Size in pixels as displayed, with the orientation applied. */
export type Size = { width: number; height: number }

/** The size, or the number of leading bytes needed to continue, or null if the header has no size. */
export type HeaderResult = Size | number | null

/** Parses the first bytes of an image. Never throws. */
export type HeaderReader = (head: Uint8Array) => HeaderResult

// Maximum of a signed 32-bit column; also PNG's limit.
const maxSide = 0x7fffffff

/** Swaps width and height for EXIF orientations 5 to 8, which are rotated by 90 degrees. */
export function displaySize(width: number, height: number, orientation = 1): Size | null {
  if (!(width > 0 && height > 0 && width <= maxSide && height <= maxSide)) return null
  const isRotated = orientation >= 5 && orientation <= 8
  return isRotated ? { width: height, height: width } : { width, height }
}

export const u16be = (b: Uint8Array, at: number) => ((b[at] ?? 0) << 8) | (b[at + 1] ?? 0)
export const u16le = (b: Uint8Array, at: number) => (b[at] ?? 0) | ((b[at + 1] ?? 0) << 8)
export const u24le = (b: Uint8Array, at: number) => u16le(b, at) | ((b[at + 2] ?? 0) << 16)
export const u32be = (b: Uint8Array, at: number) => u16be(b, at) * 65536 + u16be(b, at + 2)
export const u32le = (b: Uint8Array, at: number) => u16le(b, at + 2) * 65536 + u16le(b, at)
export const i32le = (b: Uint8Array, at: number) => u32le(b, at) | 0

/** Whether `b` contains the ASCII `text` at offset `at`. */
export function matchesAt(b: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (b[at + i] !== text.charCodeAt(i)) return false
  return true
}
