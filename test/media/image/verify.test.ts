// Images sent unchanged: damage visible in their structure, and damage visible only by decoding.
import sharp from 'sharp'
import t from 'tap'
import { Unreadable } from '../../../lib/base/errors.ts'
import { isComplete } from '../../../lib/media/image/complete.ts'
import { sniffImage } from '../../../lib/media/image/image.ts'
import { verifyImage } from '../../../lib/media/image/verify.ts'
import { exampleImage } from '../../kit/files/images.ts'
import { createRandom } from '../../kit/random.ts'
import { picture } from '../../page/books.ts'

const progressive = await sharp(await picture(300, 400))
  .jpeg({ progressive: true })
  .toBuffer()
const samples: Record<string, Buffer> = {
  jpeg: await picture(300, 400),
  progressive,
  png: await picture(120, 160, 'png'),
  webp: await picture(300, 400, 'webp'),
  gif: await exampleImage('gif'),
  avif: await exampleImage('avif'),
  tiff: await exampleImage('tiff'),
  bmp: await exampleImage('bmp'),
}

const structural = ['jpeg', 'progressive', 'png']

t.test('sound images are sound, the most common by their structure alone', async t => {
  for (const [name, bytes] of Object.entries(samples)) {
    t.equal(isComplete(bytes, sniffImage(bytes)!), structural.includes(name), name)
    t.equal(await verifyImage(bytes), 'sound', name)
    const padded = Buffer.concat([bytes, Buffer.alloc(600)])
    if (name !== 'tiff') t.equal(await verifyImage(padded), 'sound', `${name} with a trailer`)
  }
})

t.test('a truncated image is never sound', async t => {
  for (const [name, bytes] of Object.entries(samples))
    for (const share of [0.05, 0.5, 0.97]) {
      const cut = bytes.subarray(0, Math.floor(bytes.length * share))
      // The rows of a BMP are missing at its top, which decoders paint black.
      if (name === 'bmp') continue
      const verdict = await verifyImage(cut).catch(error => error.code)
      t.not(verdict, 'sound', `${name} ${share}`)
    }
})

t.test('images without their data are refused', async t => {
  const png = await picture(400, 400, 'png')
  const onlyHeader = Buffer.concat([png.subarray(0, 33), png.subarray(-12)])
  const jpeg = await picture(400, 400)
  const scan = jpeg.indexOf('ffda', 0, 'hex')
  const emptyScan = Buffer.concat([jpeg.subarray(0, scan + 14), jpeg.subarray(-2)])
  t.notOk(isComplete(onlyHeader, 'image/png'))
  t.notOk(isComplete(emptyScan, 'image/jpeg'))
  await t.rejects(verifyImage(onlyHeader), { code: 'unsupported_image' })
  await t.rejects(verifyImage(Buffer.from('<svg width="4" height="4"><g></svg>')), {
    code: 'unsupported_image',
  })
  await t.rejects(verifyImage(Buffer.from('no image')), { code: 'unsupported_image' })
})

t.test('a sound image decodes, with any bytes changed', async t => {
  const random = createRandom(22)
  const verdicts: Record<string, number> = {}
  for (let i = 0; i < 40; i++) {
    const name = random.pick(Object.keys(samples).filter(name => name !== 'bmp'))
    const bytes = Buffer.from(samples[name]!)
    random.mutate(bytes, 8)
    const verdict = await verifyImage(bytes).catch((error: unknown) => {
      if (!(error instanceof Unreadable)) throw error
      return error.code
    })
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
    if (verdict !== 'sound') continue
    // Readers show a JPEG with a damaged scan: a warning of libjpeg, which libvips takes for an error in
    // progressive images. A size beyond the limits is not decoded.
    const failOn = name === 'jpeg' || name === 'progressive' ? 'none' : 'truncated'
    await sharp(bytes, { failOn })
      .raw()
      .toBuffer()
      .catch(({ message }) => {
        if (!/limit|Corrupt JPEG data/.test(message)) t.fail(`${name} ${i}: ${message}`)
      })
  }
  t.ok(verdicts.sound && Object.keys(verdicts).length > 1, JSON.stringify(verdicts))
})
