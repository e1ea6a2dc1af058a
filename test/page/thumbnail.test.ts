import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { type ThumbnailFormat, thumbnailPath } from '../../lib/image/thumbnail-path.ts'
import { pageCounters } from '../../lib/page/counters.ts'
import { openThumbnails, placeholder } from '../../lib/page/thumbnail.ts'
import { engine, picture } from './books.ts'

const name = 'abcdef0123456789abcdef0123456789abcdef01'

async function filed(t: Test, format: ThumbnailFormat) {
  const folder = t.testdir()
  const path = thumbnailPath(folder, name, format)
  mkdirSync(dirname(path), { recursive: true })
  const bytes = await picture(40, 60, format)
  writeFileSync(path, bytes)
  return { folder, bytes, path }
}

t.test('a thumbnail is read once and then kept in memory', async t => {
  const { folder, bytes, path } = await filed(t, 'jpeg')
  const pages = engine(t)
  const thumbnails = openThumbnails({ folder, format: 'jpeg', convert: pages.convert })
  const found = await thumbnails.read(name)
  t.match(found, { mediaType: 'image/jpeg', tag: `"${name}"` })
  t.ok(found!.bytes.equals(bytes))
  rmSync(path)
  const opens = pageCounters.opens
  t.equal(await thumbnails.read(name), found)
  t.equal(await thumbnails.readJpeg(name), found)
  t.equal(pageCounters.opens, opens)
  t.equal(await thumbnails.read(name.replace('a', 'b')), null)
})

t.test(
  'thumbnails made before the format was changed are still there, and can be had as JPEG',
  async t => {
    const { folder, bytes } = await filed(t, 'webp')
    const pages = engine(t)
    const thumbnails = openThumbnails({ folder, format: 'jpeg', convert: pages.convert })
    const jpeg = await thumbnails.readJpeg(name)
    t.equal(jpeg!.mediaType, 'image/jpeg')
    t.same([...jpeg!.bytes.subarray(0, 2)], [0xff, 0xd8])
    const webp = await thumbnails.read(name)
    t.equal(webp!.mediaType, 'image/webp')
    t.ok(webp!.bytes.equals(bytes), 'which conversion leaves alone')
    t.not(jpeg!.tag, webp!.tag)
  },
)

t.test('the placeholder is a drawing', t => {
  t.match(String(placeholder.bytes), /^<svg [\s\S]*<\/svg>$/)
  t.equal(placeholder.mediaType, 'image/svg+xml')
  t.end()
})
