// Memory and time limits of image decoding and encoding, estimated from the header.
import { Unreadable } from '../../base/errors.ts'
import type { MeasuredImage } from './image.ts'
import { countJpegScans, decodesWholeFrame, readJpegFrame } from './jpeg.ts'

// Limit for decoders that stream rows.
const maxPixels = 400_000_000
const maxFrameBytes = 256 * 1024 * 1024

// Working memory, in bytes per pixel, of decoders that hold the whole frame; measured, to stay below 400 MB
// per process. JPEG XL has a separate memory limit.
const frameBytesPerPixel: Record<string, number> = {
  'image/gif': 5,
  'image/webp': 4,
  'image/bmp': 4,
  'image/avif': 12,
  'image/heic': 12,
  'image/jxl': 16,
}

const jxlBytesPerPixel = 62
// For a separate process, and the largest drawing.
const svgBytes = 64 * 1024 * 1024

/** Nanoseconds of decoding per pixel and per byte of the file. */
type DecodeCost = { pixel: number; byte: number }

// Upper bounds, measured with flat colors (pixels) and noise (bytes). Native decoders cannot be interrupted,
// so work that would exceed `maxDecodeMs` is not started.
const decodeCosts: Record<string, DecodeCost> = {
  'image/jpeg': { pixel: 9, byte: 30 },
  'image/png': { pixel: 16, byte: 5 },
  'image/gif': { pixel: 16, byte: 5 },
  'image/webp': { pixel: 8, byte: 65 },
  'image/bmp': { pixel: 30, byte: 0 },
  'image/tiff': { pixel: 14, byte: 5 },
  'image/avif': { pixel: 40, byte: 130 },
  'image/heic': { pixel: 120, byte: 100 },
  // In WebAssembly: slow, but its thread can be terminated.
  'image/jxl': { pixel: 100, byte: 0 },
}
const maxDecodeMs = 2000
// Every scan of a progressive JPEG visits all its blocks; typical files have 10.
const nsPerPixelAndScan = 1

/** Nanoseconds of encoding per pixel. */
const encodeNs = { jpeg: 20, png: 80, webp: 100, gif: 200 } as const
const maxEncodeMs = 2000

/** Pixels of the largest image to encode in this format. */
export const maxEncodedPixels = (format: keyof typeof encodeNs): number =>
  (maxEncodeMs * 1_000_000) / encodeNs[format]

/** Throws Unreadable `too_large` or `unsupported_image` for an image that must not be decoded. */
export function checkDecodable(bytes: Uint8Array, image: MeasuredImage): void {
  const { mediaType, width, height } = image
  // Checked by svg-cost.ts, and drawn at any size.
  if (mediaType === 'image/svg+xml') return
  if (width === null || height === null)
    throw new Unreadable('The image has no size', 'unsupported_image')
  if (width * height > maxPixelsOf(bytes, mediaType))
    throw new Unreadable(`An image of ${width}×${height} pixels is too large`, 'too_large')
}

/**
 * The number of pixels that the memory and time limits allow. Decoders compare it with the size that they
 * find themselves, since a hostile file may declare two.
 */
export function maxPixelsOf(bytes: Uint8Array, mediaType: string): number {
  const frameBytes = bytesPerPixel(bytes, mediaType)
  const { pixel, byte } = decodeCosts[mediaType] ?? { pixel: 0, byte: 0 }
  const ns = pixel + (mediaType === 'image/jpeg' ? scansOf(bytes) * nsPerPixelAndScan : 0)
  const left = Math.max(0, maxDecodeMs * 1_000_000 - bytes.length * byte)
  return Math.floor(Math.min(maxPixels, maxFrameBytes / frameBytes, left / ns))
}

/** Approximate memory that decoding takes, in addition to the file's bytes. */
export function decodeBytes(
  bytes: Uint8Array,
  { mediaType, width, height }: MeasuredImage,
): number {
  if (mediaType === 'image/svg+xml') return svgBytes
  const perPixel = mediaType === 'image/jxl' ? jxlBytesPerPixel : bytesPerPixel(bytes, mediaType)
  return (width ?? 0) * (height ?? 0) * perPixel
}

const scansOf = (bytes: Uint8Array) => (decodesWholeFrame(bytes) ? countJpegScans(bytes) : 0)

function bytesPerPixel(bytes: Uint8Array, mediaType: string): number {
  if (mediaType === 'image/png') return bytes[28] === 1 ? pngBytesPerPixel(bytes) : 0
  if (mediaType === 'image/jpeg') {
    const frame = readJpegFrame(bytes)
    // Rotation needs the whole frame, and so do progressive scans.
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
