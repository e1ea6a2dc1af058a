import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { NotFound, Unreadable } from '../../lib/errors.ts'
import { pageCounters } from '../../lib/page/counters.ts'
import { library, member, tarEnd, zip } from '../archive/archive-files.ts'
import { bookAt, bookOf, bytesOf, cacheFolder, engine, picture, truth } from './books.ts'

const [wide, tall, third] = await Promise.all([
  picture(300, 200),
  picture(200, 300, 'png'),
  picture(120, 180, 'webp'),
])
const images = [
  { name: '10.webp', bytes: third },
  { name: '1.jpg', bytes: wide, deflate: true },
  { name: '2.png', bytes: tall },
]
const costs = () => ({ ...pageCounters })
function spent(before: typeof pageCounters) {
  const { opens, reads, directories, tasks } = pageCounters
  return {
    opens: opens - before.opens,
    reads: reads - before.reads,
    directories: directories - before.directories,
    tasks: tasks - before.tasks,
  }
}

t.test('pages of a CBZ are its bytes, in reading order, stored or deflated', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const expected = [
    ['image/jpeg', wide],
    ['image/png', tall],
    ['image/webp', third],
  ] as const
  for (const [index, [mediaType, bytes]] of expected.entries()) {
    const image = await pages.image(book, index)
    t.equal(image.mediaType, mediaType)
    t.equal(image.length, bytes.length)
    t.ok((await bytesOf(image)).equals(bytes))
  }
  await t.rejects(pages.image(book, 3), NotFound)
})

t.test('once the directory is known, a page costs one open and one read', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const first = costs()
  await bytesOf(await pages.image(book, 0))
  t.same(spent(first), { opens: 1, reads: 1, directories: 1, tasks: 1 })
  for (const index of [0, 1, 2, 1]) {
    const before = costs()
    await bytesOf(await pages.image(book, index))
    t.same(spent(before), { opens: 1, reads: 1, directories: 0, tasks: 0 })
  }
})

t.test('many requests for a new book make its directory once', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const before = costs()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => bytesOf(await pages.image(book, i % 3))),
  )
  t.match(spent(before), { opens: 20, reads: 20, directories: 1, tasks: 1 })
})

t.test('every container gives the bytes that the book itself gives', async t => {
  const pages = engine(t)
  const found = [
    'generated-wrapped/small/jpeg-rar5.cbr',
    'generated-wrapped/small/jpeg-rar4.cbr',
    'nika-begiashvili__libarchivejs/lzma.cb7',
    'generated-hostile/7z/lzma.cb7',
    'generated-hostile/7z/deflate.cb7',
    'standardebooks__mary-shelley_frankenstein/src.epub',
    'gotson__komga/rar4.cbr',
  ]
  for (const path of found) {
    const book = await bookAt(join(library, path)).catch(() => null)
    if (book === null) continue
    for (let index = 0; index < Math.min(book.count, 3); index++) {
      const bytes = await bytesOf(await pages.image(book, index))
      t.ok(bytes.equals(await truth(join(library, path), index)), `${path} ${index}`)
    }
  }
})

t.test('pages of a tar lie in it as they are: no thread is asked', async t => {
  const pages = engine(t)
  const tar = Buffer.concat([member('1.jpg', wide), member('2.png', tall), tarEnd])
  const book = await bookOf(t, 'a.cbt', tar)
  t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
  const before = costs()
  t.ok((await bytesOf(await pages.image(book, 1))).equals(tall))
  t.same(spent(before), { opens: 1, reads: 1, directories: 0, tasks: 0 })
})

t.test('a page is made to fit, never enlarged, and converted when asked', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const sizeOf = async (index: number, asked: object) => {
    const image = await pages.image(book, index, asked)
    const { width, height, format } = await sharp(await bytesOf(image)).metadata()
    t.equal(image.mediaType, `image/${format}`)
    return [width, height, format]
  }
  t.same(await sizeOf(0, { width: 150 }), [150, 100, 'jpeg'])
  t.same(await sizeOf(0, { height: 50 }), [75, 50, 'jpeg'])
  t.same(await sizeOf(0, { width: 150, height: 50 }), [75, 50, 'jpeg'])
  t.same(await sizeOf(1, { width: 100 }), [100, 150, 'png'])
  t.same(await sizeOf(1, { format: 'webp' }), [200, 300, 'webp'])
  t.same(await sizeOf(2, { width: 5000, format: 'jpeg' }), [120, 180, 'jpeg'])
  t.ok((await bytesOf(await pages.image(book, 0, { width: 5000 }))).equals(wide), 'as it is')
  t.ok((await bytesOf(await pages.image(book, 0, { format: 'jpeg' }))).equals(wide), 'as it is')
})

t.test('a derived page is made once, and found by the next process', async t => {
  const book = await bookOf(t, 'a.cbz', zip(images))
  const folder = cacheFolder(t)
  const pages = engine(t, { folder })
  const before = costs()
  const made = await Promise.all(
    Array.from({ length: 8 }, async () => bytesOf(await pages.image(book, 0, { width: 90 }))),
  )
  t.equal(spent(before).tasks, 2, 'one directory, one image')
  for (const bytes of made) t.ok(bytes.equals(made[0]!))
  await pages.close()
  const next = engine(t, { folder })
  const again = costs()
  t.ok((await bytesOf(await next.image(book, 0, { width: 90 }))).equals(made[0]!))
  t.equal(spent(again).tasks, 1, 'only the directory')
})

t.test('tags follow the file, the page and what is asked', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const tags = [
    await pages.image(book, 0),
    await pages.image(book, 1),
    await pages.image(book, 0, { width: 90 }),
    await pages.image(book, 0, { height: 90 }),
    await pages.image(book, 0, { width: 90, format: 'png' }),
  ].map(image => image.tag)
  t.equal(new Set(tags).size, tags.length)
  for (const tag of tags) t.match(tag, /^"[\w-]{22}"$/)
  t.equal((await pages.image(book, 0)).tag, tags[0])
})

t.test('a file that changed since the scan is read as it is now', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const path = book.path.toString()
  const { tag } = await pages.image(book, 0)
  writeFileSync(path, zip([{ name: '0.png', bytes: tall }, ...images]))
  t.ok((await bytesOf(await pages.image(book, 0))).equals(tall), '0.png is the first now')
  t.not((await pages.image(book, 0)).tag, tag)
  const { width } = await sharp(await bytesOf(await pages.image(book, 0, { width: 60 }))).metadata()
  t.equal(width, 60)
  utimesSync(path, 1, 1)
  t.ok((await bytesOf(await pages.image(book, 1))).equals(wide))
  rmSync(path)
  await t.rejects(pages.image(book, 0), NotFound)
  await t.rejects(pages.image({ ...book, id: 'other' }, 0), NotFound)
})

t.test('damage is told and not sent', async t => {
  const pages = engine(t)
  const bytes = zip(images)
  const at = bytes.indexOf(tall) + tall.length - 30
  bytes[at] = bytes[at]! ^ 0xff
  const book = await bookOf(t, 'a.cbz', bytes)
  await t.rejects(pages.image(book, 1), { code: 'bad_crc', constructor: Unreadable })
  t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
})

t.test('a folder that became a link to elsewhere is not followed', async t => {
  const pages = engine(t)
  const folder = t.testdir({ shelf: { row: { 'a.cbz': '' } } })
  const path = join(folder, 'shelf', 'row', 'a.cbz')
  writeFileSync(path, zip(images))
  const book = { ...(await bookAt(path)), root: Buffer.from(join(folder, 'shelf')) }
  renameSync(join(folder, 'shelf', 'row'), join(folder, 'away'))
  symlinkSync(join(folder, 'away'), join(folder, 'shelf', 'row'))
  await t.rejects(pages.image(book, 0), { code: 'io', constructor: Unreadable })
  rmSync(join(folder, 'shelf', 'row'))
  await t.rejects(pages.image(book, 0), NotFound)
})

t.test(
  'a page that cannot be made smaller is sent as it is; a format that cannot be had is an error',
  async t => {
    const pages = engine(t)
    const jp2 = Buffer.concat([Buffer.from('ff4fff51002f0000', 'hex'), Buffer.alloc(64, 1)])
    const book = await bookOf(t, 'a.cbz', zip([...images, { name: '11.jp2', bytes: jp2 }]))
    const image = await pages.image(book, 3, { width: 100 })
    t.ok((await bytesOf(image)).equals(jp2))
    await t.rejects(pages.image(book, 3, { format: 'png' }), { code: 'unsupported_image' })
  },
)

t.test('large pages are streamed', async t => {
  const pages = engine(t)
  const large = Buffer.concat([wide, Buffer.alloc(6 * 1024 * 1024, 7)])
  const book = await bookOf(
    t,
    'a.cbz',
    zip([
      { name: '1.jpg', bytes: large },
      { name: '2.jpg', bytes: large, deflate: true },
    ]),
  )
  for (const index of [0, 1]) {
    const image = await pages.image(book, index)
    t.notOk(image.body instanceof Buffer)
    t.equal(image.length, large.length)
    t.ok((await bytesOf(image)).equals(large))
  }
})

t.test('without a cache pages are made each time', async t => {
  const pages = engine(t, { cacheBytes: 0 })
  const book = await bookOf(t, 'a.cbz', zip(images))
  const one = await bytesOf(await pages.image(book, 0, { width: 90 }))
  const before = costs()
  t.ok((await bytesOf(await pages.image(book, 0, { width: 90 }))).equals(one))
  t.equal(spent(before).tasks, 1)
})
