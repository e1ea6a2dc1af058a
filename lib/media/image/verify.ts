// Verifies that an image decodes before it is sent unchanged.
import sharp from 'sharp'
import { withMemory } from '../../base/async/memory-budget.ts'
import { Unreadable } from '../../base/errors.ts'
import { isComplete } from './complete.ts'
import { resizeImage } from './cover.ts'
import { checkDecodable, decodeBytes, maxPixelsOf } from './decode-limits.ts'
import { measureImage } from './image.ts'
import { checkSvg } from './svg-cost.ts'

/** `damaged`: only tolerant decoders accept it, and show a part. */
export type Verdict = 'sound' | 'damaged'

const nativeTypes = ['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff'].map(name => `image/${name}`)
const thumbnailSide = 64

/** Whether an AVIF has a property of layered images: layer sizes, or a layer selector. */
const hasLayers = (bytes: Uint8Array) =>
  ['a1lx', 'lsel', 'a1op'].some(type => Buffer.from(bytes.subarray(0, 4096)).includes(type))

/**
 * Decodes the image unless its structure shows that it is complete. Images that this program cannot decode,
 * or only at high cost (JPEG 2000, JPEG XL, HEIC, very large images), count as sound if their header is.
 * Throws Unreadable: `unsupported_image`, `too_large` (an SVG), `timeout`.
 */
export async function verifyImage(bytes: Uint8Array): Promise<Verdict> {
  const measured = await measureImage(async () => bytes)
  if (measured === null) throw new Unreadable('The file is not an image', 'unsupported_image')
  const { mediaType } = measured
  if (mediaType === 'image/svg+xml') {
    await checkSvg(bytes)
    return 'sound'
  }
  if (isComplete(bytes, mediaType)) return 'sound'
  try {
    checkDecodable(bytes, measured)
  } catch (error) {
    if (error instanceof Unreadable && error.code === 'too_large') return 'sound'
    throw error
  }
  const box = { width: thumbnailSide, height: thumbnailSide }
  if (mediaType === 'image/bmp') await resizeImage(bytes, box)
  if (!nativeTypes.includes(mediaType)) return 'sound'
  const limitInputPixels = maxPixelsOf(bytes, mediaType)
  try {
    await withMemory(decodeBytes(bytes, measured), () =>
      sharp(bytes, { failOn: 'error', limitInputPixels, sequentialRead: true })
        .resize({ ...box, fit: 'inside' })
        .raw()
        .toBuffer(),
    )
    return 'sound'
  } catch {
    // Browsers show AVIFs with several layers that this decoder may not.
    if (mediaType === 'image/avif' && hasLayers(bytes)) return 'sound'
    await resizeImage(bytes, box)
    return 'damaged'
  }
}
