import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { deliveryCounters } from '../../lib/download/counters.ts'
import { type ThumbnailFormat, thumbnailPath } from '../../lib/media/image/thumbnail-path.ts'
import { openThumbnails, placeholder } from '../../lib/page/thumbnail.ts'
import { engine, picture } from './books.ts'

const name = 'abcdef0123456789abcdef0123456789abcdef01'

async function writeThumbnail(t: Test, format: ThumbnailFormat) {
  const folder = t.testdir()
  const path = thumbnailPath(folder, name, format)
  mkdirSync(dirname(path), { recursive: true })
  const bytes = await picture(40, 60, format)
  writeFileSync(path, bytes)
  return { folder, bytes, path }
}

t.test('a thumbnail is read once and then cached in memory', async t => {
  const { folder, bytes, path } = await writeThumbnail(t, 'jpeg')
  const pages = engine(t)
  const thumbnails = openThumbnails({ folder, format: 'jpeg', convert: pages.convert })
  const thumbnail = await thumbnails.read(name)
  t.match(thumbnail, { mediaType: 'image/jpeg', etag: `"${name}"` })
  t.ok(thumbnail!.bytes.equals(bytes))
  rmSync(path)
  const opens = deliveryCounters.opens
  t.equal(await thumbnails.read(name), thumbnail)
  t.equal(await thumbnails.readJpeg(name), thumbnail)
  t.equal(deliveryCounters.opens, opens)
  t.equal(await thumbnails.read(name.replace('a', 'b')), null)
})

t.test(
  'thumbnails of another configured format are found, and can be converted to JPEG',
  async t => {
    const { folder, bytes } = await writeThumbnail(t, 'webp')
    const pages = engine(t)
    const thumbnails = openThumbnails({ folder, format: 'jpeg', convert: pages.convert })
    const jpeg = await thumbnails.readJpeg(name)
    t.equal(jpeg!.mediaType, 'image/jpeg')
    t.same([...jpeg!.bytes.subarray(0, 2)], [0xff, 0xd8])
    const webp = await thumbnails.read(name)
    t.equal(webp!.mediaType, 'image/webp')
    t.ok(webp!.bytes.equals(bytes), 'not changed by the conversion')
    t.not(jpeg!.etag, webp!.etag)
  },
)

t.test('the placeholder is an SVG', t => {
  t.match(String(placeholder.bytes), /^<svg [\s\S]*<\/svg>$/)
  t.equal(placeholder.mediaType, 'image/svg+xml')
  t.end()
})
