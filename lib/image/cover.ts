// Covers and resized pages: any image we can decode, made small, by sharp.
import sharp, { type Sharp } from 'sharp'
import { Unreadable } from '../errors.ts'
import { checkDecodable, mostPixels } from './guard.ts'
import { type Measured, measureImage, sniffImage } from './image.ts'
import { readJpegFrame } from './jpeg.ts'
import type { Raw } from './raw.ts'
import { whyRefused } from './svg.ts'

// One thread an image: the pool above already keeps every core busy, and a cache of
// operations finds nothing twice.
sharp.cache(false)
sharp.concurrency(1)

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif'
/** `mediaType` is that of `bytes`; sizes are pixels. */
export type Made = { bytes: Buffer; width: number; height: number; mediaType: string }

const mostSeconds = 30
// What the formats can hold on one side.
const mostSide: Record<ImageFormat, number> = {
  jpeg: 65_500,
  png: 1_000_000,
  webp: 16_383,
  gif: 65_535,
}

/**
 * A cover of at most `maxSide` pixels, never enlarged, turned upright, in sRGB with 8 bits; the
 * first frame of an animation. `quality` is 1 to 100. A JPEG that is small already is passed on as it
 * is when JPEG is wanted.
 * Throws Unreadable: `unsupported_image`, `too_large`, `timeout`.
 */
export async function makeCover(
  bytes: Uint8Array,
  options: { maxSide: number; format: 'webp' | 'jpeg'; quality: number },
): Promise<Made> {
  const { maxSide, format, quality } = options
  const small = format === 'jpeg' ? smallJpeg(bytes, maxSide) : null
  if (small) return small
  return make(bytes, { width: maxSide, height: maxSide, format, quality })
}

const mostPassedOn = 16 * 1024

/** A whole, upright, grey or RGB JPEG of few bytes is its own cover: 1.5 ms less. */
function smallJpeg(bytes: Uint8Array, maxSide: number): Made | null {
  if (bytes.length > mostPassedOn || sniffImage(bytes) !== 'image/jpeg') return null
  const frame = readJpegFrame(bytes)
  if (frame === null || typeof frame === 'number' || frame.orientation !== 1) return null
  const { width, height, components } = frame
  const isWhole = bytes.at(-2) === 0xff && bytes.at(-1) === 0xd9 && width > 0 && height > 0
  const isPlain = components === 1 || components === 3
  if (!isWhole || !isPlain || width > maxSide || height > maxSide) return null
  return { bytes: Buffer.from(bytes), width, height, mediaType: 'image/jpeg' }
}

/**
 * The image scaled down to fit `width` and `height`, in its own format where we write that, else
 * JPEG; sides beyond what the format can hold are scaled to fit. Errors as `makeCover`.
 */
export async function resizeImage(
  bytes: Uint8Array,
  options: { width?: number; height?: number; format?: ImageFormat; quality?: number },
): Promise<Made> {
  return make(bytes, options)
}

/** JPEG of decoded pixels. */
export async function encodePixels(raw: Raw, quality: number): Promise<Uint8Array> {
  return openRaw(raw).jpeg({ quality }).toBuffer()
}

type Target = { width?: number; height?: number; format?: ImageFormat; quality?: number }

async function make(bytes: Uint8Array, target: Target): Promise<Made> {
  const measured = await measureImage(async () => bytes)
  if (!measured) throw new Unreadable('This is no image', 'unsupported_image')
  checkDecodable(bytes, measured)
  const format = target.format ?? ownFormat(measured.mediaType)
  const side = mostSide[format]
  const box = {
    width: Math.min(target.width ?? side, side),
    height: Math.min(target.height ?? side, side),
  }
  try {
    const image = (await decode(bytes, measured, Math.max(box.width, box.height)))
      .autoOrient()
      .resize({ ...box, fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: mostSeconds })
    const { data, info } = await encode(image, format, target.quality ?? 85).toBuffer({
      resolveWithObject: true,
    })
    return { bytes: data, width: info.width, height: info.height, mediaType: `image/${format}` }
  } catch (cause) {
    throw cause instanceof Unreadable ? cause : unreadable(cause)
  }
}

const ownFormat = (mediaType: string): ImageFormat =>
  mediaType === 'image/png' ? 'png' : mediaType === 'image/webp' ? 'webp' : 'jpeg'

function encode(image: Sharp, format: ImageFormat, quality: number): Sharp {
  // Effort 2 writes files as small as the default 4 in half the time (10 against 20 ms a cover).
  if (format === 'webp') return image.webp({ quality, effort: 2 })
  if (format === 'png') return image.png()
  if (format === 'gif') return image.gif({ effort: 2 })
  return image.flatten({ background: '#ffffff' }).jpeg({ quality })
}

async function decode(bytes: Uint8Array, measured: Measured, side: number): Promise<Sharp> {
  switch (measured.mediaType) {
    case 'image/svg+xml':
      return openSvg(bytes, measured, side)
    case 'image/bmp':
      return openRaw((await import('./bmp.ts')).decodeBmp(bytes))
    case 'image/jxl':
      return openRaw(await (await import('./jxl.ts')).decodeJxl(bytes))
    case 'image/heic':
      return openRaw(await (await import('./heic.ts')).decodeHeic(bytes))
    case 'image/jp2':
      throw new Unreadable('JPEG 2000 is not supported', 'unsupported_image')
    default:
      return sharp(bytes, opening)
  }
}

// A page that is damaged near its end still makes a cover: `failOn: none` shows what there is.
const opening = { failOn: 'none', limitInputPixels: mostPixels, sequentialRead: true } as const

function openRaw({ data, width, height, channels }: Raw): Sharp {
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: mostPixels })
}

/** Drawn at the size that is wanted, so a declared size of a million pixels costs nothing. */
function openSvg(bytes: Uint8Array, { width, height }: Measured, side: number): Sharp {
  const why = whyRefused(bytes)
  if (why) throw new Unreadable(`The SVG uses ${why}`, 'unsupported_image')
  if (width === null || height === null)
    throw new Unreadable('The SVG does not tell its size', 'unsupported_image')
  // librsvg draws at 1 dpi at least, so 72 times smaller than declared.
  const density = Math.min(72, Math.max(1, (72 * Math.min(side, 4096)) / Math.max(width, height)))
  return sharp(bytes, { density, limitInputPixels: 64_000_000, failOn: 'none' })
}

function unreadable(cause: unknown): Unreadable {
  const message = cause instanceof Error ? cause.message : ''
  if (/timeout/i.test(message))
    return new Unreadable('The image takes too long to decode', 'timeout', { cause })
  if (/pixel limit|too large|dimensions|out of memory/i.test(message))
    return new Unreadable('The image is too large', 'too_large', { cause })
  return new Unreadable('The image cannot be decoded', 'unsupported_image', { cause })
}
