import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { NotFound, Unreadable } from '../../lib/base/errors.ts'
import { png, tarEnd, tarEntry, zip } from '../kit/files/archives.ts'
import { corpusPath, goldenPath } from '../kit/files/corpus.ts'
import { waitUntil } from '../kit/processes.ts'
import {
  bookAt,
  bookOf,
  bytesOf,
  cacheFolder,
  countedSince,
  engine,
  picture,
  snapshotCounters,
  truth,
} from './books.ts'

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
function isLinkTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target
  } catch {
    return false
  }
}

t.test('pages of a CBZ are its original bytes, in reading order, stored or deflated', async t => {
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

t.test('a page costs one open and one read', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const first = snapshotCounters()
  await bytesOf(await pages.image(book, 0))
  t.same(countedSince(first), { opens: 1, reads: 1, directories: 1, tasks: 0 }, 'the first page')
  // A WebP is decoded before it is sent for the first time.
  await bytesOf(await pages.image(book, 2))
  for (const index of [0, 1, 2, 1]) {
    const before = snapshotCounters()
    await bytesOf(await pages.image(book, index))
    t.same(countedSince(before), { opens: 1, reads: 1, directories: 0, tasks: 0 })
  }
})

t.test('pages use the same memory one after the other, and never at the same time', async t => {
  const pages = engine(t)
  const large = await Promise.all([0, 1, 2, 3].map(i => picture(600 + i, 800)))
  const entries = large.flatMap((bytes, i) => [
    { name: `${2 * i}.jpg`, bytes },
    { name: `${2 * i + 1}.jpg`, bytes, deflate: true },
  ])
  const book = await bookOf(t, 'a.cbz', zip(entries))
  const memory = new Set<ArrayBufferLike>()
  for (const index of [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]) {
    const { body, release } = await pages.image(book, index)
    memory.add((body as Buffer).buffer)
    release()
  }
  // For a deflated page also the checksum of the packed bytes.
  t.ok(memory.size <= 2, `${memory.size}`)
  const concurrent = await Promise.all(
    Array.from({ length: 24 }, async (_, i) => pages.image(book, i % 8)),
  )
  for (const [i, { body, release }] of concurrent.entries()) {
    t.ok((body as Buffer).equals(entries[i % 8]!.bytes), `${i}`)
    if (i % 3 === 0) release()
  }
})

t.test(
  'pages that are streamed leave no file open',
  {
    skip: process.platform !== 'linux' && 'lists open files',
  },
  async t => {
    const pages = engine(t)
    const large = Buffer.concat([wide, randomBytes(6_000_000)])
    const entries = [1, 2, 3].map(i => ({ name: `${i}.jpg`, bytes: large, deflate: i === 2 }))
    const book = await bookOf(t, 'a.cbz', zip(entries))
    const open = () =>
      readdirSync('/proc/self/fd').filter(fd =>
        isLinkTo(`/proc/self/fd/${fd}`, book.path.toString()),
      )
    for (const index of [0, 1, 2, 0])
      t.ok((await bytesOf(await pages.image(book, index))).equals(large), `page ${index}`)
    await waitUntil(() => open().length === 0, 10)
  },
)

t.test('concurrent requests for a new book build its directory once', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const before = snapshotCounters()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => bytesOf(await pages.image(book, i % 2))),
  )
  t.match(countedSince(before), { opens: 20, reads: 20, directories: 1, tasks: 0 })
})

t.test('the directory of a book of thousands of pages is made by a thread', async t => {
  const pages = engine(t)
  const many = Array.from({ length: 4000 }, (_, i) => ({
    name: `${10_000 + i} ${randomBytes(8).toString('hex')}.png`,
    bytes: png(i + 1),
  }))
  const book = await bookOf(t, 'many.cbz', zip(many))
  const before = snapshotCounters()
  t.ok((await bytesOf(await pages.image(book, 3999))).equals(png(4000)))
  t.match(countedSince(before), { directories: 1, tasks: 1 })
  const later = snapshotCounters()
  t.ok((await bytesOf(await pages.image(book, 3999))).equals(png(4000)))
  t.match(countedSince(later), { opens: 1, directories: 0, tasks: 0 })
})

t.test('concurrent first requests of a page that must be decoded decode it once', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  await bytesOf(await pages.image(book, 0))
  const before = snapshotCounters()
  const sent = await Promise.all(
    Array.from({ length: 12 }, async () => bytesOf(await pages.image(book, 2))),
  )
  t.equal(countedSince(before).tasks, 1)
  t.ok(sent.every(bytes => bytes.equals(third)))
})

t.test('every container returns the same bytes as the opened book', async t => {
  const pages = engine(t)
  const paths = [
    goldenPath('7z/lzma.cb7'),
    goldenPath('7z/deflate.cb7'),
    goldenPath('rar/rar5-unicode.cbr'),
    goldenPath('epub/fixed-layout.epub'),
    corpusPath('library/generated-wrapped/small/jpeg-rar5.cbr', 3),
    corpusPath('library/generated-wrapped/small/jpeg-rar4.cbr', 3),
    corpusPath('library/standardebooks__mary-shelley_frankenstein/src.epub', 3),
    corpusPath('library/gotson__komga/rar4.cbr', 3),
  ].filter(path => path !== null)
  for (const path of paths) {
    const book = await bookAt(path)
    for (let index = 0; index < Math.min(book.count, 3); index++) {
      const bytes = await bytesOf(await pages.image(book, index))
      t.ok(bytes.equals(await truth(path, index)), `${path} ${index}`)
    }
  }
})

t.test('pages of a tar are read directly, without a thread', async t => {
  const pages = engine(t)
  const tar = Buffer.concat([tarEntry('1.jpg', wide), tarEntry('2.png', tall), tarEnd])
  const book = await bookOf(t, 'a.cbt', tar)
  t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
  const before = snapshotCounters()
  t.ok((await bytesOf(await pages.image(book, 1))).equals(tall))
  t.same(countedSince(before), { opens: 1, reads: 1, directories: 0, tasks: 0 })
})

t.test('a page is scaled to fit, never enlarged, and converted on request', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const sizeOf = async (index: number, options: object) => {
    const image = await pages.image(book, index, options)
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
  t.ok(
    (await bytesOf(await pages.image(book, 0, { width: 5000 }))).equals(wide),
    'the original bytes',
  )
  t.ok(
    (await bytesOf(await pages.image(book, 0, { format: 'jpeg' }))).equals(wide),
    'the original bytes',
  )
})

t.test('a page whose size is too far from its start to be known is scaled, too', async t => {
  const comment = Buffer.concat([Buffer.from('fffeffff', 'hex'), Buffer.alloc(65_533)])
  const bytes = Buffer.concat([wide.subarray(0, 2), ...Array(40).fill(comment), wide.subarray(2)])
  const book = await bookOf(t, 'a.cbz', zip([{ name: '1.jpg', bytes }]))
  const image = await engine(t).image(book, 0, { width: 150 })
  t.match(await sharp(await bytesOf(image)).metadata(), { width: 150, height: 100 })
})

t.test('a derived page is rendered once, and found by the next process', async t => {
  const book = await bookOf(t, 'a.cbz', zip(images))
  const folder = cacheFolder(t)
  const pages = engine(t, { folder })
  const before = snapshotCounters()
  const rendered = await Promise.all(
    Array.from({ length: 8 }, async () => bytesOf(await pages.image(book, 0, { width: 90 }))),
  )
  t.match(countedSince(before), { directories: 1, tasks: 1 }, 'one image')
  for (const bytes of rendered) t.ok(bytes.equals(rendered[0]!))
  await pages.close()
  const next = engine(t, { folder })
  const atRestart = snapshotCounters()
  t.ok((await bytesOf(await next.image(book, 0, { width: 90 }))).equals(rendered[0]!))
  t.match(countedSince(atRestart), { directories: 1, tasks: 0 }, 'only the directory')
})

t.test('ETags depend on the file, the page and the options', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const etags = [
    await pages.image(book, 0),
    await pages.image(book, 1),
    await pages.image(book, 0, { width: 90 }),
    await pages.image(book, 0, { height: 90 }),
    await pages.image(book, 0, { width: 90, format: 'png' }),
  ].map(image => image.etag)
  t.equal(new Set(etags).size, etags.length)
  for (const etag of etags) t.match(etag, /^"[\w-]{22}"$/)
  t.equal((await pages.image(book, 0)).etag, etags[0])
})

t.test('a file that changed since the scan is read in its current version', async t => {
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(images))
  const path = book.path.toString()
  const { etag } = await pages.image(book, 0)
  writeFileSync(path, zip([{ name: '0.png', bytes: tall }, ...images]))
  t.ok((await bytesOf(await pages.image(book, 0))).equals(tall), '0.png is the first page now')
  t.not((await pages.image(book, 0)).etag, etag)
  const { width } = await sharp(await bytesOf(await pages.image(book, 0, { width: 60 }))).metadata()
  t.equal(width, 60)
  utimesSync(path, 1, 1)
  t.ok((await bytesOf(await pages.image(book, 1))).equals(wide))
  // An empty folder would look like an unmounted library.
  writeFileSync(join(dirname(path), 'other'), '')
  rmSync(path)
  await t.rejects(pages.image(book, 0), NotFound)
  await t.rejects(pages.image({ ...book, id: 'other' }, 0), NotFound)
})

t.test('a damaged page is an error', async t => {
  const pages = engine(t)
  const bytes = zip(images)
  const at = bytes.indexOf(tall) + tall.length - 30
  bytes[at] = bytes[at]! ^ 0xff
  const book = await bookOf(t, 'a.cbz', bytes)
  await t.rejects(pages.image(book, 1), { code: 'bad_crc', constructor: Unreadable })
  t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
})

t.test('a folder replaced by a link to another place is not followed', async t => {
  const pages = engine(t)
  const folder = t.testdir({ library: { series: { 'a.cbz': '' } } })
  const path = join(folder, 'library', 'series', 'a.cbz')
  writeFileSync(path, zip(images))
  const book = { ...(await bookAt(path)), root: Buffer.from(join(folder, 'library')) }
  renameSync(join(folder, 'library', 'series'), join(folder, 'away'))
  symlinkSync(join(folder, 'away'), join(folder, 'library', 'series'))
  await t.rejects(pages.image(book, 0), { code: 'io', constructor: Unreadable })
  mkdirSync(join(folder, 'library', 'other'))
  rmSync(join(folder, 'library', 'series'))
  await t.rejects(pages.image(book, 0), NotFound)
})

t.test(
  'a page that cannot be scaled is sent as it is; a format that cannot be produced is an error',
  async t => {
    const pages = engine(t)
    const size = '000000200000003000000000000000000'
    const jp2 = Buffer.from(`ff4fff51002f0000${size}`.padEnd(160, '0'), 'hex')
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

t.test('without a cache pages are rendered each time', async t => {
  const pages = engine(t, { cacheBytes: 0 })
  const book = await bookOf(t, 'a.cbz', zip(images))
  const first = await bytesOf(await pages.image(book, 0, { width: 90 }))
  const before = snapshotCounters()
  t.ok((await bytesOf(await pages.image(book, 0, { width: 90 }))).equals(first))
  t.equal(countedSince(before).tasks, 1)
})
