// Files that change within their size, or get a new time without a change.
import { utimesSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { eventsDuring } from '../../kit/events.ts'
import { pngChunk, tarEnd, tarEntry, zip, zipOfFiles } from '../../kit/files/archives.ts'
import { item } from '../../kit/files/epub.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../kit/files/stored-archives.ts'
import { createTestLibrary, type TestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)

/** A PNG whose size does not depend on its shade of grey. */
function png(shade: number): Buffer {
  const header = Buffer.from('0000001e000000010800000000', 'hex')
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(30, shade)])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(row, { level: 0 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

const titles = { before: 'The Spidre', after: 'The Spider' }
let counter = 0

/** The files of a comic; the title lies where the fingerprint has no sample. */
const comicFiles = (title: string, filler: number, shade = 0) => [
  { name: 'filler.bin', bytes: Buffer.alloc(100_000, filler) },
  { name: '1.png', bytes: png(shade) },
  { name: 'ComicInfo.xml', bytes: Buffer.from(`<ComicInfo><Title>${title}</Title></ComicInfo>`) },
]

const cbt = (files: { name: string; bytes: Buffer }[]) =>
  Buffer.concat([...files.map(({ name, bytes }) => tarEntry(name, bytes)), tarEnd])

function pdf(title: string, filler: number) {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 6 0 R>>',
    stream('', Buffer.alloc(100_000, filler)),
    `<</Title(${title})>>`,
    stream('', '0 0 1 rg 20 20 100 100 re f'),
  ]
  return pdfOf(objects, '/Info 5 0 R')
}

const epub = (title: string, filler: number) =>
  zipOfFiles({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    'filler.bin': Buffer.alloc(100_000, filler),
    'a.xhtml': `<html><body>${filler}</body></html>`,
    'book.opf': `<package><metadata><dc:title>${title}</dc:title></metadata>
      <manifest>${item('a', 'a.xhtml', 'application/xhtml+xml')}</manifest>
      <spine><itemref idref="a"/></spine></package>`,
  })

const books: Record<string, (title: string, filler: number) => Buffer> = {
  cbz: (title, filler) => zip(comicFiles(title, filler)),
  cbr: (title, filler) => storedRar(comicFiles(title, filler)),
  cb7: (title, filler) => storedSevenZip(comicFiles(title, filler)),
  cbt: (title, filler) => cbt(comicFiles(title, filler)),
  epub,
  pdf,
}

async function shelf(test: Test) {
  const filler = (counter += 10)
  const made = (title: string) =>
    Object.fromEntries(
      Object.entries(books).map(([format, make], i) => [`A/b.${format}`, make(title, filler + i)]),
    )
  const lib = await createTestLibrary(test, all, made(titles.before))
  return { lib, filler, after: made(titles.after) }
}

const stateOf = (lib: TestLibrary) =>
  sql`
    select b.id, b.title, b.title_sort, b.locks, b.series_id, b.page_count, b.created_at, b.sort_key,
      encode(b.fingerprint, 'hex') as fingerprint, encode(a.sha256, 'hex') as sha256,
      encode(a.cover, 'hex') as cover
    from book b join book_artifact a on a.book_id = b.id
    where b.library_id = ${lib.id} order by b.name`

check('a file that changes within its size is read again, in every format', async t => {
  const { lib, after } = await shelf(t)
  await lib.scan()
  const before = await lib.books()
  const reader = await createReader(sql)
  for (const book of before) await reader.read(book.id, 1)
  const [locked] = before
  await sql`update book set summary = 'Mine', locks = '{summary}' where id = ${locked!.id}`
  for (const [path, bytes] of Object.entries(after)) lib.write(path, bytes)
  const scan = await lib.scan()
  t.match(scan, { state: 'completed', changed: 6, unchanged: 0, added: 0, missing: 0 })
  const now = await lib.books()
  t.same(
    now.map(book => [book.id, book.title, book.error]),
    before.map(book => [book.id, titles.after, null]),
  )
  for (const [i, book] of now.entries()) {
    t.not(book.sha256, before[i]!.sha256, book.name)
    t.match(book.sha256, /^[\da-f]{64}$/)
    t.equal(book.cover, before[i]!.cover, `${book.name} shows the same page`)
  }
  t.same(await reader.pages(), Object.fromEntries(before.map(book => [book.id, 1])))
  const [row] = await sql`select summary, locks from book where id = ${locked!.id}`
  t.same({ ...row }, { summary: 'Mine', locks: ['summary'] })
  t.match(await lib.scan(), { opens: 0, to_index: 0 })
})

check('files that only have a new time keep everything, and are not described again', async t => {
  const { lib } = await shelf(t)
  await lib.scan()
  const before = await stateOf(lib)
  for (const format of Object.keys(books)) utimesSync(lib.pathOf(`A/b.${format}`), 1_000, 1_000)
  let scan: Awaited<ReturnType<TestLibrary['scan']>> | null = null
  const events = await eventsDuring(sql, async () => {
    scan = await lib.scan()
  })
  t.match(scan, { unchanged: 6, changed: 0, opens: 6, to_cover: 0, to_hash: 0 })
  t.same(events, [])
  t.same(await stateOf(lib), before)
  t.match(await lib.scan(), { opens: 0, to_index: 0 })
})

check('a damaged archive is compared as a whole, not by its headers', async t => {
  const page = { name: '1.png', bytes: png(9) }
  const filler = { name: 'filler.bin', bytes: Buffer.alloc(100_000, 1) }
  const bytes = zip([page, filler]).subarray(0, -40)
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': bytes })
  await lib.scan()
  const before = await lib.book('1.cbz')
  t.match(before, { error: null, pages: 1 })
  // Where the fingerprint has no sample.
  bytes[50_000]! += 1
  lib.write('A/1.cbz', bytes)
  t.match(await lib.scan(), { changed: 1, unchanged: 0 })
  t.not((await lib.book('1.cbz')).sha256, before.sha256)
})

check('a changed page within the size gets a new cover', async t => {
  const { lib, filler } = await shelf(t)
  await lib.scan()
  const before = await lib.book('b.cbz')
  lib.write('A/b.cbz', zip(comicFiles(titles.before, filler, 200)))
  t.match(await lib.scan(), { changed: 1, to_cover: 1 })
  const after = await lib.book('b.cbz')
  t.equal(after.id, before.id)
  t.not(after.cover, before.cover)
  t.not(after.sha256, before.sha256)
})

check('a file that moves and changes within its size is the same book', async t => {
  const { lib, after } = await shelf(t)
  await lib.scan()
  const before = await lib.book('b.cbz')
  lib.remove('A/b.cbz')
  lib.write('B/moved.cbz', after['A/b.cbz']!)
  t.match(await lib.scan(), { moved: 1, added: 0, missing: 0 })
  const moved = await lib.book('moved.cbz')
  t.match(moved, { id: before.id, title: titles.after })
  t.not(moved.sha256, before.sha256)
  t.ok(moved.cover)
})

check('two books that differ within their size keep their ids when both move', async t => {
  const filler = (counter += 10)
  const lib = await createTestLibrary(t, all, {
    'A/1.cbz': books.cbz!(titles.before, filler),
    'A/2.cbz': books.cbz!(titles.after, filler),
  })
  await lib.scan()
  const [first, second] = await lib.books()
  lib.move('A/1.cbz', 'B/z.cbz')
  lib.move('A/2.cbz', 'B/a.cbz')
  t.match(await lib.scan({ options: { confirmMissing: true } }), { moved: 2, added: 0, missing: 0 })
  t.match(await lib.book('z.cbz'), { id: first!.id, title: titles.before })
  t.match(await lib.book('a.cbz'), { id: second!.id, title: titles.after })
})

check('without a stored hash a file with a new time is read again', async t => {
  const { lib, after } = await shelf(t)
  await sql`update library set hash_policy = 'off' where id = ${lib.id}`
  await lib.scan()
  const before = await lib.book('b.pdf')
  lib.write('A/b.pdf', after['A/b.pdf']!)
  await lib.scan()
  t.match(await lib.book('b.pdf'), { id: before.id, title: titles.after, sha256: null })
})
