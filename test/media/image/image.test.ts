import { readFileSync } from 'node:fs'
import t from 'tap'
import { measureImage, sniffImage } from '../../../lib/media/image/image.ts'
import { corpusImages } from '../../kit/files/corpus.ts'
import { exampleImage, exampleSize, type ImageFormat, rotatedJpeg } from '../../kit/files/images.ts'
import { createRandom } from '../../kit/random.ts'

const measure = (bytes: Uint8Array) => measureImage(async n => bytes.subarray(0, n))
const size = async (bytes: Uint8Array) => {
  const measured = await measure(bytes)
  return measured && [measured.mediaType, measured.width, measured.height]
}
const formats: ImageFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff', 'bmp', 'jxl']
const text = (s: string) => Buffer.from(s, 'latin1')

t.test('valid images of the corpus are measured as displayed', async t => {
  for (const format of formats)
    t.match(await measure(await exampleImage(format)), exampleSize, format)
  for (const { name, path, isSound, width, height } of corpusImages()) {
    const measured = await measure(readFileSync(path))
    if (isSound) t.match(measured, { width, height }, name)
  }
})

t.test('media types are detected by signature', async t => {
  const box = (brand: string, compatible = '') =>
    text(`\0\0\0${String.fromCharCode(16 + compatible.length)}ftyp${brand}\0\0\0\0${compatible}`)
  const types: [string, Uint8Array][] = [
    ['image/jpeg', text('\xff\xd8\xff\xe0')],
    ['image/png', text('\x89PNG\r\n\x1a\n')],
    ['image/gif', text('GIF89a')],
    ['image/webp', text('RIFF\0\0\0\0WEBPVP8 ')],
    ['image/avif', box('avif')],
    ['image/avif', box('mif1', 'miafavif')],
    ['image/heic', box('heic')],
    ['image/heic', box('mif1', 'heic')],
    ['image/tiff', text('II*\0')],
    ['image/tiff', text('MM\0+')],
    ['image/jxl', text('\xff\x0a\x00')],
    ['image/jxl', text('\0\0\0\x0cJXL \r\n\x87\n')],
    ['image/jp2', text('\0\0\0\x0cjP  \r\n\x87\n')],
    ['image/jp2', text('\xff\x4f\xff\x51')],
    ['image/bmp', text(`BM${'\0'.repeat(12)}\x28\0\0\0`)],
    ['image/svg+xml', text('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['image/svg+xml', text('\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a -->\n<s:svg >')],
  ]
  for (const [type, bytes] of types) t.equal(sniffImage(bytes), type, type)
})

t.test('similar files are not images', async t => {
  for (const s of ['', 'B', 'BMW is a car', '<html><svg></svg></html>', 'RIFF....WAVE', 'GIF88a'])
    t.equal(await measure(text(s)), null, s)
  t.equal(sniffImage(text('\0\0\0\x18ftypmp42\0\0\0\0isommp42')), null)
})

t.test('EXIF orientation is applied to the size', async t => {
  t.same(await size(await rotatedJpeg()), ['image/jpeg', 1200, 1800])
})

t.test('more bytes are read only when the header requires it', async t => {
  const requested: number[] = []
  const plain = await exampleImage('jpeg')
  const head = (bytes: Uint8Array) => async (n: number) => {
    requested.push(n)
    return bytes.subarray(0, n)
  }
  await measureImage(head(plain))
  t.same(requested.splice(0), [4096])
  const segment = Buffer.concat([text('\xff\xe2\xff\xff'), Buffer.alloc(65_533)])
  const profile = (n: number) =>
    Buffer.concat([plain.subarray(0, 2), ...Array<Buffer>(n).fill(segment), plain.subarray(2)])
  t.match(await measureImage(head(profile(1))), { width: 550 })
  t.same(requested.splice(0), [4096, 1_048_576])
  t.match(await measureImage(head(profile(8))), { width: 550 })
  t.same(requested.splice(0), [4096, 1_048_576])
  t.same(await size(profile(20)), ['image/jpeg', null, null])
})

t.test('TIFF and BigTIFF are measured in both byte orders', async t => {
  const entry = '\x01\x00\0\x03\0\0\0\x01\0\x20\0\0\x01\x01\0\x04\0\0\0\x01\0\0\0\x10'
  t.same(await size(text(`MM\0*\0\0\0\x08\0\x02${entry}`)), ['image/tiff', 32, 16])
  const turned = '\x01\x12\0\x03\0\0\0\x01\0\x06\0\0'
  t.same(await size(text(`MM\0*\0\0\0\x08\0\x03${entry}${turned}`)), ['image/tiff', 16, 32])
  const big = Buffer.alloc(16 + 8 + 40)
  big.write('II+\0\x08\0\0\0\x10', 'latin1')
  big.writeUInt32LE(2, 16)
  for (const [i, tag] of [256, 257].entries()) {
    big.writeUInt16LE(tag, 24 + i * 20)
    big.writeUInt16LE(16, 26 + i * 20)
    big.writeUInt32LE(tag, 36 + i * 20)
  }
  t.same(await size(big), ['image/tiff', 256, 257])
})

t.test('the size of SVG is read from attributes, units and view box', async t => {
  const svg = async (attributes: string) =>
    (await size(text(`<svg ${attributes}></svg>`)))?.slice(1)
  t.same(await svg('width="300" height="600"'), [300, 600])
  t.same(await svg("width='1in' height='2.54cm'"), [96, 96])
  t.same(await svg('viewBox="0 0 20 40"'), [20, 40])
  t.same(await svg('width="100" viewBox="0,0,20,40"'), [100, 200])
  t.same(await svg('width="100%" height="100%" viewBox="0 0 7 9"'), [7, 9])
  t.same(await svg('width="100%"'), [null, null])
})

t.test('JPEG 2000 is measured with and without boxes', async t => {
  const siz = Buffer.alloc(24)
  siz.write('\xff\x4f\xff\x51', 'latin1')
  siz.writeUInt32BE(640, 8)
  siz.writeUInt32BE(480, 12)
  t.same(await size(siz), ['image/jp2', 640, 480])
  const ihdr = '\0\0\0\x16ihdr\0\0\x01\xe0\0\0\x02\x80'
  const boxed = `\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 \0\0\0\x1ejp2h${ihdr}${'\0'.repeat(6)}`
  t.same(await size(text(boxed)), ['image/jp2', 640, 480])
})

t.test('JPEG XL is measured with and without boxes', async t => {
  const bare = await exampleImage('jxl')
  const header = '\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl '
  const boxed = (type: string, first: string) =>
    Buffer.concat([text(`${header}\0\0\0\0${type}${first}`), bare])
  t.same(await size(boxed('jxlc', '')), ['image/jxl', 550, 368])
  t.same(await size(boxed('jxlp', '\0\0\0\0')), ['image/jxl', 550, 368])
})

t.test('truncated and mutated headers never cause an error', async t => {
  const { below } = createRandom(1)
  const images = [
    ...(await Promise.all(formats.map(exampleImage))),
    ...corpusImages().map(({ path }) => readFileSync(path)),
  ]
  const started = performance.now()
  for (const image of images) {
    const bytes = image.subarray(0, 4096)
    for (let i = 0; i < 200; i++) {
      const copy = Buffer.from(bytes.subarray(0, i < 50 ? i : bytes.length))
      for (let n = below(6); n > 0 && copy.length > 0; n--)
        copy[below(Math.min(copy.length, 512))] = below(256)
      const measured = await measure(copy)
      if (measured?.width) t.ok(measured.width > 0 && measured.width <= 0x7fffffff)
    }
  }
  t.ok(performance.now() - started < 60_000)
})
