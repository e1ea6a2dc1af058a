import t, { type Test } from 'tap'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openZip, zipArchive } from '../../../../lib/media/archive/zip/zip.ts'
import { openComic } from '../../../../lib/media/format/comic/comic.ts'
import { readCover } from '../../../../lib/media/format/formats.ts'
import { openBytes, png, zip } from '../../../kit/files/archives.ts'
import { firstCover } from '../../../kit/files/covers.ts'
import { use } from '../../../kit/use.ts'

type Entries = Parameters<typeof zip>[0]
const openEntries = async (t: Test, entries: Entries, limits = defaultLimits) => {
  const file = use(t, openBytes(t.testdir(), zip(entries)))
  return openComic(zipArchive, await openZip(file, limits), limits)
}
const pages = (...names: string[]) => names.map((name, i) => ({ name, bytes: png(i + 1) }))

t.test('pages are in natural order of the whole path', async t => {
  const names = ['10.png', 'b/1.png', '2.png', 'a 2/1.png', 'a/2.png', 'a/10.png', '1.png']
  const book = use(t, await openEntries(t, pages(...names)))
  const expected = ['1.png', '2.png', '10.png', 'a/2.png', 'a/10.png', 'a 2/1.png', 'b/1.png']
  t.same(
    book.pages.map(({ name }) => name),
    expected,
  )
  t.match(book.pages[0], {
    name: '1.png',
    mediaType: 'image/png',
    bytes: png(7).length,
    width: 7,
    height: 1,
  })
  t.equal(book.pageCount, 7)
})

t.test('system files are not pages', async t => {
  const names = ['1.png', '__MACOSX/1.png', '._1.png', 'a/.hidden/2.png', '@eaDir/1.png', './3.png']
  const book = use(
    t,
    await openEntries(t, [...pages(...names), { name: 'Thumbs.db', bytes: png(1) }]),
  )
  t.same(
    book.pages.map(({ name }) => name),
    ['./3.png', '1.png'],
  )
})

t.test('empty, foreign and large files are skipped with a warning', async t => {
  const book = use(
    t,
    await openEntries(
      t,
      [
        { name: '1.png', bytes: png(1) },
        { name: '2.png', bytes: Buffer.alloc(0) },
        { name: '3.jpg', bytes: Buffer.from('this is text') },
        { name: '4.png', bytes: png(5000) },
      ],
      { ...defaultLimits, entryBytes: 80 },
    ),
  )
  t.equal(book.pages.length, 1)
  t.equal(book.warnings.length, 3)
})

t.test('a damaged page is listed, and the next page is the cover', async t => {
  const bytes = zip([
    { name: '1.png', bytes: png(3), deflate: true },
    { name: '2.png', bytes: png(4) },
  ])
  bytes.fill(0xff, 36, 50)
  const file = use(t, openBytes(t.testdir(), bytes))
  const book = use(
    t,
    await openComic(zipArchive, await openZip(file, defaultLimits), defaultLimits),
  )
  t.match(book.pages, [{ mediaType: 'image/png', width: null }, { width: 4 }])
  t.match(book.warnings, [/cannot be read: 1/])
  t.same(Buffer.from((await firstCover(book))!), png(4))
  await t.rejects(book.page(0), { code: 'bad_crc' })
})

t.test('a book without a readable page is rejected with the reason', async t => {
  await t.rejects(openEntries(t, [{ name: 'a.txt', bytes: png(1) }]), { code: 'no_pages' })
  await t.rejects(openEntries(t, [{ name: 'a.png', bytes: Buffer.alloc(0) }]), { code: 'no_pages' })
  const secret = { name: '1.png', bytes: png(1), flags: 1 }
  const entries = [secret, { name: 'a.txt', bytes: png(1) }]
  await t.rejects(openEntries(t, entries), { code: 'encrypted' })
})

t.test('media types are detected by content, not by name', async t => {
  const book = use(t, await openEntries(t, [{ name: '1.jpg', bytes: png(9) }]))
  t.equal(book.pages[0]!.mediaType, 'image/png')
  t.equal((await book.page(0)).mediaType, 'image/png')
})

t.test('the ComicInfo nearest to the root is read, then MetronInfo', async t => {
  const info = (series: string) => Buffer.from(`<ComicInfo><Series>${series}</Series></ComicInfo>`)
  const book = use(
    t,
    await openEntries(t, [
      ...pages('1.png'),
      { name: 'a/b/ComicInfo.xml', bytes: info('Deep') },
      { name: '__MACOSX/ComicInfo.xml', bytes: info('Junk') },
      { name: 'a/COMICINFO.XML', bytes: info('Near') },
      { name: 'MetronInfo.xml', bytes: Buffer.from('<MetronInfo/>') },
    ]),
  )
  const readings = await book.metadata()
  t.same(
    readings.map(({ source }) => source),
    ['comicinfo', 'metroninfo'],
  )
  t.equal(readings[0]!.metadata.series, 'Near')
})

t.test('metadata above the size limit yields a warning', async t => {
  const entries = [...pages('1.png'), { name: 'ComicInfo.xml', bytes: Buffer.alloc(200, 'x') }]
  const book = use(t, await openEntries(t, entries, { ...defaultLimits, metadataBytes: 100 }))
  t.match(await book.metadata(), [{ source: 'comicinfo', metadata: {}, warnings: [/too large/] }])
})

t.test('readCover returns the cover of the opened book', async t => {
  const text = Buffer.from('this is text')
  const damaged = zip([
    { name: '1.png', bytes: png(3), deflate: true },
    { name: '2.png', bytes: png(4) },
  ])
  damaged.fill(0xff, 36, 50)
  const foreign = Array.from({ length: 6 }, (_, i) => ({ name: `${i}.png`, bytes: text }))
  const books: Record<string, Buffer> = {
    'natural order': zip(pages('10.png', '2.png', 'b/1.png')),
    'leftovers first': zip([
      { name: '0.png', bytes: Buffer.alloc(0) },
      ...pages('__MACOSX/1.png', '3.png'),
    ]),
    'a damaged page first': damaged,
    'more foreign files than tries': zip([...foreign, { name: '9.png', bytes: png(9) }]),
  }
  for (const [what, bytes] of Object.entries(books)) {
    const file = use(t, openBytes(t.testdir(), bytes))
    const book = use(
      t,
      await openComic(zipArchive, await openZip(file, defaultLimits), defaultLimits),
    )
    t.same(await readCover(file, 'cbz', async bytes => bytes), await firstCover(book), what)
  }
})

t.test('readCover reports why a book has no pages', async t => {
  const file = use(t, openBytes(t.testdir(), zip([{ name: 'a.txt', bytes: png(1) }])))
  await t.rejects(
    readCover(file, 'cbz', async bytes => bytes),
    { code: 'no_pages' },
  )
})

t.test('extensions do not decide the order of pages', async t => {
  const names = ['001.5.png', '002.png', '001.png', '000a.png', '000.png', 'p (2).png', 'p.png']
  const book = use(t, await openEntries(t, pages(...names)))
  t.same(
    book.pages.map(({ name }) => name),
    ['000.png', '000a.png', '001.png', '001.5.png', '002.png', 'p.png', 'p (2).png'],
  )
})

t.test('the second byte of a character is not a separator', async t => {
  // 許功蓋 in Big5: the second bytes of its characters include that of a backslash.
  const big5 = Buffer.from('b35ca55cbb5c', 'hex')
  const named = (end: string) => Buffer.concat([big5, Buffer.from(end)])
  const entries = [10, 2].map(n => ({ name: named(`_${n}.png`), bytes: png(n) }))
  const book = use(t, await openEntries(t, entries))
  t.same(
    book.pages.map(({ name }) => name),
    ['許功蓋_2.png', '許功蓋_10.png'],
  )
})

t.test('archives beside pages are named by a warning', async t => {
  const inner = zip(pages('1.png'))
  const entries = [...pages('1.png', '2.png'), { name: 'extra/2.cbz', bytes: inner }]
  const book = use(t, await openEntries(t, entries))
  t.equal(book.pageCount, 2)
  t.same(book.warnings, ['Archives and books inside the archive were skipped: 1'])
  await t.rejects(openEntries(t, [{ name: '1.cbz', bytes: inner }]), {
    code: 'no_pages',
    message: 'The archive contains archives or books, but no images',
  })
})

t.test('the page that ComicInfo marks as the front cover is the cover', async t => {
  const marked = (pages: string) => ({
    name: 'ComicInfo.xml',
    bytes: Buffer.from(`<ComicInfo><Pages>${pages}</Pages></ComicInfo>`),
  })
  const covers = async (notes: string) => {
    const bytes = zip([...pages('0.png', '1.png', '2.png'), marked(notes)])
    const file = use(t, openBytes(t.testdir(), bytes))
    const book = use(
      t,
      await openComic(zipArchive, await openZip(file, defaultLimits), defaultLimits),
    )
    const decoded = await readCover(file, 'cbz', async cover => Buffer.from(cover))
    return [await firstCover(book), decoded]
  }
  const cover = (page: number) => [png(page + 1), png(page + 1)]
  t.same(
    await covers('<Page Image="0" Type="Advertisement"/><Page Image="2" Type="FrontCover"/>'),
    cover(2),
  )
  t.same(await covers('<Page Image="1" Type="Story"/>'), cover(0))
  t.same(await covers('<Page Image="9" Type="FrontCover"/>'), cover(0))
  t.same(await covers('<Page Image="1" Type="FrontCover"'), cover(1))
})
