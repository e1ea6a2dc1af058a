// Cover images, mosaics of covers and resized pages, encoded by sharp.
import sharp, { type Sharp } from 'sharp'
import { withMemory } from '../../base/async/memory-budget.ts'
import { endsThread, Unreadable } from '../../base/errors.ts'
import { checkDecodable, decodeBytes, maxEncodedPixels, maxPixelsOf } from './decode-limits.ts'
import { type MeasuredImage, measureImage, sniffImage } from './image.ts'
import { readJpegFrame } from './jpeg.ts'
import type { RawImage } from './primitives.ts'
import { findUnsafeContent } from './svg.ts'
import { checkSvg } from './svg-cost.ts'
import { renderSvg } from './svg-renderer.ts'

// One thread per image: the thread pool already uses every core. No operation cache: inputs do not repeat.
sharp.cache(false)
sharp.concurrency(1)

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif'
/** An encoded image with its size in pixels. */
export type EncodedImage = { bytes: Buffer; width: number; height: number; mediaType: string }

const timeoutSeconds = 15
// Maximum side length of the formats in pixels.
const maxSideOf: Record<ImageFormat, number> = {
  jpeg: 65_500,
  png: 1_000_000,
  webp: 16_383,
  gif: 65_535,
}

/**
 * A cover of at most `maxSide` pixels, never enlarged, rotated upright, in sRGB with 8 bits; the first frame
 * of an animation. `quality` is 1 to 100. A small JPEG is returned unchanged if JPEG is requested. A strip,
 * such as the first page of a webtoon, is cropped to its top; an image of two pages stays whole, since
 * nothing distinguishes it from a landscape format. Throws Unreadable: `unsupported_image`, `too_large`,
 * `timeout`.
 */
export async function createCover(
  bytes: Uint8Array,
  options: { maxSide: number; format: 'webp' | 'jpeg'; quality: number },
): Promise<EncodedImage> {
  const { maxSide, format, quality } = options
  const small = format === 'jpeg' ? smallJpeg(bytes, maxSide) : null
  const target = { width: maxSide, height: maxSide, format, quality, isCropped: true }
  return small ?? (await resizeImage(bytes, target))
}

/**
 * Height by width: of an image that counts as a strip, which no book page is, and of the part that is shown.
 */
const minStripRatio = 2.5
const coverRatio = 1.5

const isStrip = ({ width, height }: Box) => height >= width * minStripRatio

/** The top of a strip, scaled down so that its height is at most `maxHeight`. */
function topOfStrip({ width }: Box, maxHeight: number): Box {
  const height = Math.min(maxHeight, Math.round(width * coverRatio))
  return { width: Math.max(1, Math.round(height / coverRatio)), height }
}

const maxReusedBytes = 16 * 1024

/** A complete, upright, gray or RGB JPEG of few bytes is used as its own cover, which saves 1.5 ms. */
function smallJpeg(bytes: Uint8Array, maxSide: number): EncodedImage | null {
  if (bytes.length > maxReusedBytes || sniffImage(bytes) !== 'image/jpeg') return null
  const frame = readJpegFrame(bytes)
  if (frame === null || typeof frame === 'number' || frame.orientation !== 1) return null
  const { width, height, components } = frame
  const isComplete = bytes.at(-2) === 0xff && bytes.at(-1) === 0xd9 && width > 0 && height > 0
  const isGreyOrRgb = components === 1 || components === 3
  if (!isComplete || !isGreyOrRgb || width > maxSide || height > maxSide) return null
  if (isStrip({ width, height })) return null
  return { bytes: Buffer.from(bytes), width, height, mediaType: 'image/jpeg' }
}

/**
 * The image scaled down to fit `width` and `height`, in its own format if that is PNG or WebP, otherwise
 * JPEG; scaled further to what can be encoded in reasonable time. JPEG instead of WebP if a side exceeds
 * WebP's 16,383 pixels. Errors as for `createCover`.
 */
export async function resizeImage(bytes: Uint8Array, target: Target): Promise<EncodedImage> {
  const measured = await measureImage(async () => bytes)
  if (!measured) throw new Unreadable('The file is not an image', 'unsupported_image')
  checkDecodable(bytes, measured)
  return withMemory(decodeBytes(bytes, measured), () => convertMeasured(bytes, measured, target))
}

/** Encodes decoded pixels as JPEG. */
export async function encodePixels(raw: RawImage, quality: number): Promise<Uint8Array> {
  return fromRaw(raw).jpeg({ quality }).toBuffer()
}

type Target = {
  width?: number
  height?: number
  format?: ImageFormat
  quality?: number
  /** Strips are cropped to their top. */
  isCropped?: boolean
}

async function convertMeasured(
  bytes: Uint8Array,
  measured: MeasuredImage,
  target: Target,
): Promise<EncodedImage> {
  const { format, box, top } = chooseOutput(measured, target)
  try {
    const image = (await decode(bytes, measured, box))
      .autoOrient()
      .resize(
        top
          ? { ...top, fit: 'cover', position: 'top' }
          : { ...box, fit: 'inside', withoutEnlargement: true },
      )
      .timeout({ seconds: timeoutSeconds })
    const { data, info } = await encode(image, format, target.quality ?? 85).toBuffer({
      resolveWithObject: true,
    })
    return { bytes: data, width: info.width, height: info.height, mediaType: `image/${format}` }
  } catch (cause) {
    throw cause instanceof Unreadable || endsThread(cause) ? cause : toUnreadable(cause)
  }
}

type Box = { width: number; height: number }

/** The output format, the box to fit the image into, and the part of a strip to show. */
function chooseOutput({ mediaType, width, height }: MeasuredImage, target: Target) {
  const requested = target.format ?? outputFormat(mediaType)
  const full = { width: width ?? 1, height: height ?? 1 }
  if (target.isCropped && isStrip(full)) {
    const top = topOfStrip(full, target.height ?? full.height)
    const whole = { width: top.width, height: Math.ceil((full.height * top.width) / full.width) }
    return { format: requested, box: whole, top }
  }
  const fits = Math.min(
    1,
    (target.width ?? full.width) / full.width,
    (target.height ?? full.height) / full.height,
  )
  const isTooLong = Math.max(full.width, full.height) * fits > maxSideOf[requested]
  const format = requested === 'webp' && isTooLong ? 'jpeg' : requested
  const scale = Math.min(
    fits,
    maxSideOf[format] / Math.max(full.width, full.height),
    Math.sqrt(maxEncodedPixels(format) / (full.width * full.height)),
  )
  // The requested sides unless they are too large, so that rounding is left to the encoder.
  const box: Box =
    scale === fits && (target.width || target.height)
      ? { width: target.width ?? maxSideOf[format], height: target.height ?? maxSideOf[format] }
      : {
          width: Math.max(1, Math.round(full.width * scale)),
          height: Math.max(1, Math.round(full.height * scale)),
        }
  return { format, box, top: null }
}

const outputFormat = (mediaType: string): ImageFormat =>
  mediaType === 'image/png' ? 'png' : mediaType === 'image/webp' ? 'webp' : 'jpeg'

function encode(image: Sharp, format: ImageFormat, quality: number): Sharp {
  // Effort 2 produces files as small as the default 4 in half the time (10 instead of 20 ms per cover).
  if (format === 'webp') return image.webp({ quality, effort: 2 })
  if (format === 'png') return image.png()
  if (format === 'gif') return image.gif({ effort: 2 })
  return image.flatten({ background: '#ffffff' }).jpeg({ quality })
}

async function decode(bytes: Uint8Array, measured: MeasuredImage, box: Box): Promise<Sharp> {
  switch (measured.mediaType) {
    case 'image/svg+xml':
      return fromRaw(await drawSvg(bytes, measured, box))
    case 'image/bmp':
      return fromRaw((await import('./bmp-decoder.ts')).decodeBmp(bytes))
    case 'image/jxl':
      return fromRaw(await (await import('./wasm-decoders.ts')).decodeJxl(bytes))
    case 'image/heic':
      return fromRaw(await (await import('./wasm-decoders.ts')).decodeHeic(bytes))
    case 'image/jp2':
      throw new Unreadable('JPEG 2000 is not supported', 'unsupported_image')
    default:
      return sharp(bytes, {
        // A page that is damaged near its end still produces a cover.
        failOn: 'none',
        limitInputPixels: maxPixelsOf(bytes, measured.mediaType),
        sequentialRead: true,
      })
  }
}

const fromRaw = ({ data, width, height, channels }: RawImage): Sharp =>
  sharp(data, { raw: { width, height, channels } })

// Drawn at the requested size, so a declared size of a million pixels costs nothing extra.
const maxDrawnSide = 4096

async function drawSvg(
  bytes: Uint8Array,
  { width, height }: MeasuredImage,
  box: Box,
): Promise<RawImage> {
  const unsafeContent = findUnsafeContent(await checkSvg(bytes))
  if (unsafeContent) throw new Unreadable(`The SVG contains ${unsafeContent}`, 'unsupported_image')
  if (width === null || height === null)
    throw new Unreadable('The SVG has no size', 'unsupported_image')
  const side = Math.min(maxDrawnSide, Math.max(box.width, box.height))
  // librsvg renders at 1 dpi or more, so at most 72 times smaller than declared.
  const density = Math.min(72, Math.max(1, (72 * side) / Math.max(width, height)))
  return renderSvg(bytes, density)
}

function toUnreadable(cause: unknown): Unreadable {
  const message = cause instanceof Error ? cause.message : ''
  if (/timeout/i.test(message))
    return new Unreadable('The image takes too long to decode', 'timeout', { cause })
  if (/pixel limit|too large|dimensions|out of memory/i.test(message))
    return new Unreadable('The image is too large', 'too_large', { cause })
  return new Unreadable('The image cannot be decoded', 'unsupported_image', { cause })
}

const columns = 2

/**
 * Four covers in two rows of two, each cropped to the proportions of a cover. `maxSide`: height in pixels. Throws Unreadable like
 * createCover.
 */
export async function createMosaic(
  images: readonly Uint8Array[],
  { maxSide, format, quality }: { maxSide: number; format: 'webp' | 'jpeg'; quality: number },
): Promise<Buffer> {
  const height = Math.ceil(maxSide / columns)
  const width = Math.ceil((height * 2) / 3)
  const tiles = await Promise.all(
    images.map(async (image, i) => {
      // Decoded within the limits of covers.
      const { bytes } = await createCover(image, { maxSide, format: 'jpeg', quality: 95 })
      const input = await sharp(bytes).resize({ width, height, fit: 'cover' }).toBuffer()
      return { input, left: (i % columns) * width, top: Math.floor(i / columns) * height }
    }),
  )
  const size = { width: columns * width, height: columns * height }
  const canvas = sharp({ create: { ...size, channels: 3, background: '#d9d5cc' } }).composite(tiles)
  return await canvas.toFormat(format, { quality }).toBuffer()
}
