// How much memory a decoder will want for an image, told from its header before the decoder sees it.
import { Unreadable } from '../errors.ts'
import type { Measured } from './image.ts'
import { readJpegFrame, takesWholeFrame } from './jpeg.ts'

/** sharp refuses more pixels than this by itself; decoders that stream rows may go so far. */
export const mostPixels = 400_000_000
const mostFrameBytes = 256 * 1024 * 1024
const mostSvgBytes = 8 * 1024 * 1024

// Working bytes a pixel of decoders that hold the whole frame; measured, so that the process stays
// below 400 MB. JPEG XL has a ceiling of its own (62 bytes a pixel) and is dropped after use.
const frameBytes: Record<string, number> = {
  'image/gif': 5,
  'image/webp': 4,
  'image/bmp': 4,
  'image/avif': 12,
  'image/heic': 12,
  'image/jxl': 16,
}

/** Throws Unreadable `too_large` or `unsupported_image` for what must not be decoded. */
export function checkDecodable(bytes: Uint8Array, { mediaType, width, height }: Measured): void {
  if (mediaType === 'image/svg+xml') {
    if (bytes.length > mostSvgBytes) throw new Unreadable('The SVG is too large', 'too_large')
    return
  }
  if (width === null || height === null)
    throw new Unreadable('The image does not tell its size', 'unsupported_image')
  const pixels = width * height
  if (pixels > mostPixels || pixels * bytesPerPixel(bytes, mediaType) > mostFrameBytes)
    throw new Unreadable(`An image of ${width}×${height} pixels is too large`, 'too_large')
}

function bytesPerPixel(bytes: Uint8Array, mediaType: string): number {
  if (mediaType === 'image/png') return bytes[28] === 1 ? pngBytes(bytes) : 0
  if (mediaType === 'image/jpeg') {
    const frame = readJpegFrame(bytes)
    // Turning a picture on its side needs all of it; so do scans that refine one another.
    const isTurned = frame !== null && typeof frame === 'object' && frame.orientation >= 5
    return isTurned || takesWholeFrame(bytes) ? 3 : 0
  }
  return frameBytes[mediaType] ?? 0
}

/** Interlaced PNG is held whole, at its own depth. */
function pngBytes(bytes: Uint8Array): number {
  const channels = [1, 1, 3, 3, 2, 4, 4][bytes[25] ?? 6] ?? 4
  return channels * ((bytes[24] ?? 8) > 8 ? 2 : 1)
}
