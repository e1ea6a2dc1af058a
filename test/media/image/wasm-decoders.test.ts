import t from 'tap'
import { createCover } from '../../../lib/media/image/cover.ts'
import { measureImage } from '../../../lib/media/image/image.ts'
import { decodeHeic } from '../../../lib/media/image/wasm-decoders.ts'
import { goldenFile } from '../../kit/files/corpus.ts'
import { createRandom } from '../../kit/random.ts'

// A gradient of 120 × 80 pixels (red 2x, green 3y, blue x + y), rotated clockwise by `irot`.
const heic = goldenFile('images/rotated.heic')

t.test('the primary image is decoded with its rotation', async t => {
  const { data, width, height, channels } = await decodeHeic(heic)
  t.same([width, height, channels, data.length], [80, 120, 4, 80 * 120 * 4])
  const pixel = (x: number, y: number) => [...data.subarray((y * 80 + x) * 4).subarray(0, 4)]
  const isNear = (x: number, y: number, expected: number[]) =>
    t.ok(
      pixel(x, y).every((value, i) => Math.abs(value - expected[i]!) < 16),
      `${pixel(x, y)} for ${expected}`,
    )
  isNear(79, 0, [0, 0, 0, 255])
  isNear(0, 119, [238, 237, 198, 255])
  isNear(40, 60, [120, 117, 99, 255])
})

t.test('HEIC is measured as it is decoded, and has a cover', async t => {
  t.match(await measureImage(async () => heic), { mediaType: 'image/heic', width: 80, height: 120 })
  const cover = await createCover(heic, { maxSide: 60, format: 'webp', quality: 75 })
  t.match(cover, { width: 40, height: 60, mediaType: 'image/webp' })
})

t.test('mutated files yield pixels or Unreadable', async t => {
  const random = createRandom(3)
  const counts = { decoded: 0, rejected: 0 }
  for (let i = 0; i < 200; i++) {
    const bytes = Buffer.from(heic)
    random.mutate(bytes, 8)
    try {
      await decodeHeic(bytes)
      counts.decoded++
    } catch (error) {
      t.match(error, { code: 'unsupported_image' })
      counts.rejected++
    }
  }
  t.ok(counts.decoded > 10 && counts.rejected > 10, JSON.stringify(counts))
  t.equal((await decodeHeic(heic)).width, 80, 'the decoder remains usable')
})
