// Mosaic of four covers: two rows of two, each cropped to the proportions of a cover.
import sharp from 'sharp'
import { createCover } from './cover.ts'

const columns = 2

/** `maxSide`: height in pixels. Throws Unreadable like createCover. */
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
