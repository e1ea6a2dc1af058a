import { readFileSync } from 'node:fs'
import t from 'tap'
import { decodeBmp } from '../../../lib/media/image/bmp-decoder.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { exampleImage, exampleSize } from '../../kit/files/images.ts'

const folder = 'files/image-rs__image/tests/images/bmp/images'
const read = (path: string) => readFileSync(corpusPath(path)!)
const bmp = (name: string) => decodeBmp(read(`${folder}/${name}.bmp`))

/** A BMP of one row, 40-byte header. */
function row(bits: number, pixels: number[], options: { masks?: number[]; top?: boolean } = {}) {
  const masks = options.masks ?? []
  const b = Buffer.alloc(54 + masks.length * 4 + pixels.length)
  const width = (pixels.length * 8) / bits
  b.write('BM')
  b.writeUInt32LE(54 + masks.length * 4, 10)
  b.writeUInt32LE(40, 14)
  b.writeInt32LE(width, 18)
  b.writeInt32LE(options.top ? -1 : 1, 22)
  b.writeUInt16LE(1, 26)
  b.writeUInt16LE(bits, 28)
  b.writeUInt32LE(masks.length === 0 ? 0 : masks.length === 4 ? 6 : 3, 30)
  for (const [i, mask] of masks.entries()) b.writeUInt32LE(mask, 54 + i * 4)
  b.set(pixels, 54 + masks.length * 4)
  return decodeBmp(b)
}

t.test('an uncompressed image is decoded', async t => {
  const { data, ...size } = decodeBmp(await exampleImage('bmp'))
  t.match(size, { ...exampleSize, channels: 3 })
  t.same([...data.subarray(0, 3)], [0, 0, 60], 'the top left pixel')
})

t.test(
  'all depths and encodings are decoded to the same image',
  { skip: skipWithoutCorpus(3) },
  async t => {
    const indexed = bmp('pal8v4')
    t.same(bmp('pal8os2-sz').data, indexed.data)
    t.equal(bmp('pal4rle').data.length, indexed.data.length)
    t.match(bmp('rgba32'), { width: 127, height: 64, channels: 4 })
  },
)

t.test('pixels are converted to RGB', async t => {
  t.same([...row(24, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]).data.subarray(0, 6)], [3, 2, 1, 6, 5, 4])
  t.same([...row(32, [1, 2, 3, 9]).data], [3, 2, 1])
  t.same([...row(16, [0xff, 0x7f, 0x1f, 0x00]).data], [255, 255, 255, 0, 0, 255])
  const masks = [0xff, 0xff00, 0xff0000, 0xff000000]
  t.same([...row(32, [1, 2, 3, 9], { masks, top: true }).data], [1, 2, 3, 9])
  const green = row(16, [0xe0, 0x07, 0, 0], { masks: [0xf800, 0x7e0, 0x1f] })
  t.same([...green.data], [0, 255, 0, 0, 0, 0])
})

t.test(
  'truncated and invalid files yield pixels or Unreadable',
  { skip: skipWithoutCorpus(7) },
  async t => {
    t.ok(bmp('pal4rlecut').data.length > 0)
    t.ok(bmp('imagemagick_invalid_run_length_issue_2321').data.length > 0)
    t.ok(bmp('lenient/rle_overflow').data.length > 0)
    t.ok(bmp('lenient/badpalettesize').data.length > 0)
    t.ok(bmp('pal2color').data.length > 0)
    const bad = read('files/image-rs__image/tests/bad/bmp/Bad_badbitcount.bmp')
    t.throws(() => decodeBmp(bad), { code: 'unsupported_image' })
    t.throws(() => decodeBmp(bad.subarray(0, 60)), { code: 'unsupported_image' })
  },
)
