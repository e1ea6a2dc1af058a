// Memory limits of image decoding, estimated from the header before decoding.
import { Unreadable } from '../errors.ts'
import type { MeasuredImage } from './image.ts'
import { decodesWholeFrame, readJpegFrame } from './jpeg.ts'

/** Limit for decoders that stream rows. */
export const maxPixels = 400_000_000
const maxFrameBytes = 256 * 1024 * 1024
const maxSvgBytes = 8 * 1024 * 1024

// Working memory in bytes per pixel of decoders that hold the whole frame; measured, so that the process
// stays below 400 MB. JPEG XL (62 bytes per pixel) has a separate memory limit.
const frameBytesPerPixel: Record<string, number> = {
  'image/gif': 5,
  'image/webp': 4,
  'image/bmp': 4,
  'image/avif': 12,
  'image/heic': 12,
  'image/jxl': 16,
}

/** Throws Unreadable `too_large` or `unsupported_image` for an image that must not be decoded. */
export function checkDecodable(
  bytes: Uint8Array,
  { mediaType, width, height }: MeasuredImage,
): void {
  if (mediaType === 'image/svg+xml') {
    if (bytes.length > maxSvgBytes) throw new Unreadable('The SVG is too large', 'too_large')
    return
  }
  if (width === null || height === null)
    throw new Unreadable('The image has no size', 'unsupported_image')
  const pixels = width * height
  if (pixels > maxPixels || pixels * bytesPerPixel(bytes, mediaType) > maxFrameBytes)
    throw new Unreadable(`An image of ${width}×${height} pixels is too large`, 'too_large')
}

function bytesPerPixel(bytes: Uint8Array, mediaType: string): number {
  if (mediaType === 'image/png') return bytes[28] === 1 ? pngBytesPerPixel(bytes) : 0
  if (mediaType === 'image/jpeg') {
    const frame = readJpegFrame(bytes)
    // A rotation needs the whole frame, as do progressive scans.
    const isRotated = frame !== null && typeof frame === 'object' && frame.orientation >= 5
    return isRotated || decodesWholeFrame(bytes) ? 3 : 0
  }
  return frameBytesPerPixel[mediaType] ?? 0
}

/** Interlaced PNG is decoded as a whole frame, in its own bit depth. */
function pngBytesPerPixel(bytes: Uint8Array): number {
  const channels = [1, 1, 3, 3, 2, 4, 4][bytes[25] ?? 6] ?? 4
  return channels * ((bytes[24] ?? 8) > 8 ? 2 : 1)
}
