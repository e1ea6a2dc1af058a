import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import t from 'tap'
import { Unreadable } from '../../../lib/base/errors.ts'
import { createCover, encodePixels, resizeImage } from '../../../lib/media/image/cover.ts'
import { measureImage } from '../../../lib/media/image/image.ts'
import { corpusImages } from '../../kit/files/corpus.ts'
import {
  animatedGif,
  exampleImage,
  exampleSize,
  type ImageFormat,
  rotatedJpeg,
} from '../../kit/files/images.ts'

const webp = { maxSide: 400, format: 'webp', quality: 75 } as const
const jpeg = { ...webp, format: 'jpeg' } as const

const page = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c04020' } })

// Decoding these takes as long as all others, which include smaller ones of their kind.
const slow = /plum-blossom-large\.profile2\.12bpc|grayscale_public_university/

t.test('valid images of the corpus yield a cover, others Unreadable', async t => {
  const formats: ImageFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff', 'bmp', 'jxl']
  const examples = formats.map(async format => ({
    name: format,
    bytes: await exampleImage(format),
    isSound: true,
    ...exampleSize,
  }))
  const others = corpusImages()
    .filter(({ name }) => !slow.test(name))
    .map(image => ({ ...image, bytes: readFileSync(image.path) }))
  for (const { name, bytes, isSound, width, height } of [
    ...(await Promise.all(examples)),
    ...others,
  ]) {
    try {
      const cover = await createCover(bytes, webp)
      const ratio = Math.max(width, height) / 400
      if (isSound && height < 2 * width) {
        t.ok(Math.abs(cover.width - width / Math.max(ratio, 1)) <= 1, name)
        t.ok(Math.abs(cover.height - height / Math.max(ratio, 1)) <= 1, name)
      }
      t.match(await measureImage(async () => cover.bytes), { mediaType: 'image/webp' }, name)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      t.notOk(isSound, `${name}: ${error.message}`)
      t.ok(['unsupported_image', 'too_large'].includes(error.code))
    }
  }
})

t.test('a cover is upright, in sRGB with 8 bits, on a white background', async t => {
  t.match(await createCover(await rotatedJpeg(), jpeg), {
    width: 267,
    height: 400,
    mediaType: 'image/jpeg',
  })
  const cmyk = await page(600, 600).toColourspace('cmyk').jpeg().toBuffer()
  t.equal((await sharp(cmyk).metadata()).channels, 4)
  const deep = await page(600, 600).toColourspace('rgb16').png().toBuffer()
  for (const bytes of [cmyk, deep, await exampleImage('avif')]) {
    const made = await sharp((await createCover(bytes, jpeg)).bytes).metadata()
    t.match(made, { space: 'srgb', channels: 3, depth: 'uchar' })
  }
  const clear = await sharp({ create: { width: 9, height: 9, channels: 4, background: '#0000' } })
    .png()
    .toBuffer()
  const pixels = await sharp((await createCover(clear, jpeg)).bytes)
    .raw()
    .toBuffer()
  t.ok(pixels.every(value => value > 250))
})

t.test('small images are not enlarged, small JPEGs are returned unchanged', async t => {
  const small = await page(48, 72).jpeg().toBuffer()
  t.match(await createCover(small, webp), { width: 48, height: 72, mediaType: 'image/webp' })
  t.ok((await createCover(small, jpeg)).bytes.equals(small))
  const cut = small.subarray(0, -20)
  t.notOk((await createCover(cut, jpeg)).bytes.equals(cut))
})

t.test('the cover of an animation is its first frame', async t => {
  const { bytes } = await createCover(await animatedGif(500, 500), webp)
  t.match(await sharp(bytes).metadata(), { width: 400, height: 400, pages: undefined })
})

t.test('the cover of a strip is its top, in the proportions of a cover', async t => {
  const strip = async (width: number, height: number, background = '#102030') =>
    sharp({ create: { width, height, channels: 4, background } }).composite([
      {
        input: await page(width, Math.round(width * 1.5))
          .png()
          .toBuffer(),
        left: 0,
        top: 0,
      },
    ])
  const formats = ['jpeg', 'png', 'webp', 'gif'] as const
  const sizes = [
    [24, 60, 24, 36],
    [80, 400, 80, 120],
    [200, 500, 200, 300],
    [800, 4_000, 267, 400],
    [690, 14_000, 267, 400],
  ] as const
  for (const [width, height, wide, high] of sizes)
    for (const format of height > 500 ? (['jpeg'] as const) : formats) {
      const bytes = await (await strip(width, height)).toFormat(format).toBuffer()
      for (const options of [jpeg, webp]) {
        const made = await createCover(bytes, options)
        t.match(made, { width: wide, height: high }, `${format} of ${width} × ${height}`)
        const { dominant } = await sharp(made.bytes).stats()
        t.ok(dominant.r > 150 && dominant.b < 60, 'nothing of what is below')
      }
    }
  const clear = await (await strip(100, 300, '#0000')).png().toBuffer()
  t.match(await createCover(clear, jpeg), { width: 100, height: 150 })
  const lying = await page(900, 300).jpeg().withMetadata({ orientation: 6 }).toBuffer()
  t.match(await createCover(lying, jpeg), { width: 267, height: 400 }, 'a strip once it is upright')
  const animated = await createCover(await animatedGif(100, 400), webp)
  t.match(animated, { width: 100, height: 150 })
  t.match(await resizeImage(await (await strip(80, 400)).png().toBuffer(), { height: 200 }), {
    ...{ width: 40, height: 200 },
  })
})

t.test('the cover of two pages side by side is the whole image', async t => {
  for (const [width, height] of [
    [2_000, 1_400],
    [3_000, 600],
    [1_400, 2_700],
  ] as const) {
    const scale = 400 / Math.max(width, height)
    const { width: wide, height: high } = await createCover(
      await page(width, height).png().toBuffer(),
      webp,
    )
    t.same([wide, high], [Math.round(width * scale), Math.round(height * scale)])
  }
})

t.test('images with too many pixels are rejected by their header', async t => {
  const png = Buffer.from(
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x75\x30\0\0\x75\x30\x01\0\0\0\0',
    'latin1',
  )
  const interlaced = Buffer.from(png)
  interlaced.set([0, 0, 0x40, 0, 0, 0, 0x40, 0, 8, 6, 0, 0, 1], 16)
  const bmp = Buffer.alloc(64)
  bmp.write('BM')
  for (const [at, value] of [
    [10, 54],
    [14, 40],
    [18, 60_000],
    [22, 60_000],
  ])
    bmp.writeUInt32LE(value!, at)
  const jxl = await exampleImage('jxl')
  jxl.set([0xff, 0x0a, 0xfe, 0xff, 0xff, 0xff, 0x03])
  const progressive = await page(64, 64).jpeg({ progressive: true }).toBuffer()
  const frame = progressive.indexOf('ffc2', 0, 'hex')
  progressive.writeUInt32BE(0x7fff_7fff, frame + 5)
  for (const bytes of [png, interlaced, bmp, jxl, progressive])
    await t.rejects(createCover(bytes, webp), { code: 'too_large' })
})

t.test('a page is resized to fit both sides, in its own format', async t => {
  const png = await page(1600, 2400).png().toBuffer()
  const resized = await resizeImage(png, { width: 800 })
  t.match(resized, { width: 800, height: 1200, mediaType: 'image/png' })
  t.match(await resizeImage(png, { width: 800, height: 300 }), { width: 200, height: 300 })
  t.match(await resizeImage(png, { width: 9000 }), { width: 1600, height: 2400 })
  const made = await resizeImage(await exampleImage('avif'), { height: 100 })
  t.match(made, { height: 100, mediaType: 'image/jpeg' })
  t.match(await resizeImage(png, { format: 'webp' }), { width: 1600, mediaType: 'image/webp' })
})

t.test('a side above the maximum of WebP yields JPEG', async t => {
  const strip = await page(200, 20_000).png().toBuffer()
  const { width, height, mediaType } = await resizeImage(strip, { format: 'webp' })
  t.same([width, height, mediaType], [200, 20_000, 'image/jpeg'])
})

t.test('TIFF with the directory at the end is decoded', async t => {
  const tiff = await page(900, 900).tiff({ compression: 'none' }).toBuffer()
  t.match(await createCover(tiff, webp), { width: 400, height: 400 })
})

t.test('undecodable JPEG 2000, HEIC and JPEG XL are rejected without output', async t => {
  const heic = Buffer.concat([Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1')])
  const whole = await exampleImage('jxl')
  const jxl = whole.subarray(0, whole.length / 2)
  const jp2 = Buffer.from('\xff\x4f\xff\x51'.padEnd(16, '\0') + '\x10'.repeat(40), 'latin1')
  for (const bytes of [heic, jxl, jp2, Buffer.from('no image')])
    await t.rejects(createCover(bytes, webp), { code: 'unsupported_image' })
})

t.test('decoded pixels are encoded as JPEG', async t => {
  const raw = { data: new Uint8Array(300).fill(200), width: 10, height: 10, channels: 3 } as const
  t.match(await measureImage(async () => await encodePixels(raw, 85)), { width: 10, height: 10 })
})
