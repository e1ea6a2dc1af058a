// Generators of images in every format that is read.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import createJxlEncoder from '@jsquash/jxl/codec/enc/jxl_enc.js'
import { defaultOptions } from '@jsquash/jxl/meta.js'
import sharp from 'sharp'

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif' | 'tiff' | 'bmp' | 'jxl'

/** Size of `exampleImage`. */
export const exampleSize = { width: 550, height: 368 }

const examples = new Map<ImageFormat, Promise<Buffer>>()

/** A photo-like image of 550 × 368 pixels. */
export function exampleImage(format: ImageFormat): Promise<Buffer> {
  const image = examples.get(format) ?? encode(format, exampleSize)
  examples.set(format, image)
  return image.then(bytes => Buffer.from(bytes))
}

/** A JPEG of 1800 × 1200 pixels that is displayed as 1200 × 1800 (EXIF orientation 6). */
export const rotatedJpeg = (): Promise<Buffer> =>
  picture({ width: 1800, height: 1200 }).withMetadata({ orientation: 6 }).jpeg().toBuffer()

/** A GIF of two frames. */
export async function animatedGif(width: number, height: number): Promise<Buffer> {
  const frames = ['#c04020', '#2040c0'].map(background =>
    sharp({ create: { width, height, channels: 3, background } })
      .png()
      .toBuffer(),
  )
  return await sharp(await Promise.all(frames), { join: { animated: true } })
    .gif({ effort: 1 })
    .toBuffer()
}

async function encode(
  format: ImageFormat,
  size: { width: number; height: number },
): Promise<Buffer> {
  const image = picture(size)
  if (format === 'bmp') return bmp(await image.raw().toBuffer(), size)
  if (format === 'jxl') return await jxl(await image.ensureAlpha().raw().toBuffer(), size)
  if (format === 'gif') return await image.gif({ effort: 1 }).toBuffer()
  if (format === 'avif') return await image.avif({ effort: 0 }).toBuffer()
  return await image.toFormat(format).toBuffer()
}

/** Gradients and stripes: pixels that compress like a drawing. */
function picture({ width, height }: { width: number; height: number }) {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const stripe = (x + y) % 32 < 4 ? 60 : 0
      const color = [(x * 255) / width, (y * 255) / height, ((x * y) % 97) + stripe]
      pixels.set(color, (y * width + x) * 3)
    }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

/** 24 bits per pixel, uncompressed, bottom row first. */
function bmp(rgb: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const rowBytes = Math.ceil((width * 3) / 4) * 4
  const file = Buffer.alloc(54 + rowBytes * height)
  file.write('BM')
  file.writeUInt32LE(file.length, 2)
  file.writeUInt32LE(54, 10)
  file.writeUInt32LE(40, 14)
  file.writeInt32LE(width, 18)
  file.writeInt32LE(height, 22)
  file.writeUInt16LE(1, 26)
  file.writeUInt16LE(24, 28)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 3
      const to = 54 + (height - 1 - y) * rowBytes + x * 3
      file.set([rgb[from + 2]!, rgb[from + 1]!, rgb[from]!], to)
    }
  return file
}

async function jxl(rgba: Buffer, { width, height }: { width: number; height: number }) {
  const wasm = fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/enc/jxl_enc.wasm'))
  const encoder = await createJxlEncoder({ noInitialRun: true, wasmBinary: await readFile(wasm) })
  const encoded = encoder.encode(new Uint8ClampedArray(rgba), width, height, {
    ...defaultOptions,
    effort: 3,
  })
  if (!encoded) throw new Error('The image cannot be encoded')
  return Buffer.from(encoded)
}
