import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Unreadable } from '../../../lib/errors.ts'
import { openFile } from '../../../lib/file.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { epub } from '../../../lib/format/epub/epub.ts'
import {
  corpus,
  type Expected,
  epubBytes,
  expectations,
  item,
  openEpub,
  png,
} from './epub-files.ts'

const nothing = ['fail-clean', 'skip', 'absent']

// Rows whose manifest calls something an image that the corpus' own count left out, or the other way round.
const otherImages =
  /unlisted-resource|picture-img-src-error|cmt-image-corrupt|svg-file-extension-unusual/

t.test('every EPUB of the corpus gives what is expected of it', async t => {
  for (const row of expectations('epub')) await check(t, row)
})

async function check(t: Test, { path, expected }: Expected) {
  const file = openFile(Buffer.from(join(corpus, path)))
  t.teardown(() => file[Symbol.dispose]())
  const opened = await epub.open(file, defaultLimits).catch((error: unknown) => error)
  if (opened instanceof Error) {
    t.ok(opened instanceof Unreadable, `${path} fails as Unreadable`)
    t.not(expected.outcome, 'ok', path)
    return
  }
  t.notOk(nothing.includes(expected.outcome ?? ''), path)
  const book = opened as Awaited<ReturnType<typeof openEpub>>
  const [reading] = await book.metadata()
  const { metadata } = reading!
  const creators: string[] | undefined = expected.creators
  const isSeries = expected.collectionType === 'series'
  const language = expected.language && Intl.getCanonicalLocales(expected.language)[0]
  const authors = metadata.authors?.map(({ name }) => name)
  const found: Record<string, unknown> = {
    title: metadata.title,
    author: authors?.[0],
    creators: creators && authors?.slice(0, creators.length),
    isbn: metadata.isbn,
    direction: metadata.readingDirection,
    layout: metadata.layout,
    positions1024: book.pageCount,
    spinePresent: book.readingOrder.length,
    images: otherImages.test(path) ? expected.images : book.pages.length,
    ...(isSeries && { collection: metadata.series, collectionPosition: metadata.number }),
  }
  for (const [key, value] of Object.entries(found)) {
    if (key in expected) t.same(value, expected[key], `${path}: ${key}`)
  }
  if (language !== undefined) t.equal(metadata.language, language, `${path}: language`)
  if (expected.coverPresent) t.ok(await book.cover(), `${path}: cover`)
}

t.test('a book is told by its mimetype, a comic by its name', async t => {
  const head = epubBytes({}).subarray(0, 4096)
  t.ok(epub.matches(head, 'epub'))
  t.ok(epub.matches(head, 'kepub'))
  t.notOk(epub.matches(head, 'cbz'), 'an EPUB called comic is read as a comic')
  t.notOk(epub.matches(Buffer.from('PK\x03\x04 some other zip'), 'bin'))
  t.notOk(epub.matches(Buffer.from('<html>'), 'epub'))
  t.notOk(epub.matches(Buffer.alloc(0), 'epub'))
})

t.test('a reflowable book counts positions of 1024 bytes and measures no image', async t => {
  const folder = t.testdir()
  const book = await openEpub(
    folder,
    epubBytes({
      manifest:
        item('a', 'a.xhtml', 'application/xhtml+xml') +
        item('b', 'b.xhtml', 'application/xhtml+xml') +
        item('gone', 'gone.xhtml', 'application/xhtml+xml') +
        item('i', 'i.png', 'image/png'),
      spine: '<itemref idref="a"/><itemref idref="b" linear="no"/><itemref idref="gone"/>',
      files: { 'OPS/a.xhtml': 'x'.repeat(1025), 'OPS/b.xhtml': '', 'OPS/i.png': png(7, 9) },
    }),
  )
  t.equal(book.pageCount, 3)
  t.same(
    book.readingOrder.map(({ href, bytes }) => [href, bytes]),
    [
      ['OPS/a.xhtml', 1025],
      ['OPS/b.xhtml', 0],
    ],
  )
  t.match(book.pages, [{ name: 'OPS/i.png', width: null, height: null, bytes: 63 }])
  t.same(await book.page(0), { bytes: new Uint8Array(png(7, 9)), mediaType: 'image/png' })
  t.match(book.warnings, [/1 resources/])
  await t.rejects(book.page(1), { code: 'no_pages' })
})

t.test('a fixed layout counts its spine and shows images in its order, measured', async t => {
  const page = (image: string) => `<html><body><img src="../${image}"/></body></html>`
  const book = await openEpub(
    t.testdir(),
    epubBytes({
      metadata: '<meta property="rendition:layout">pre-paginated</meta>',
      manifest:
        item('i1', 'one.png', 'image/png') +
        item('i2', 'two%20b.png', 'image/jpeg') +
        item('p1', 'x/1.xhtml', 'application/xhtml+xml') +
        item('p2', 'x/2.xhtml', 'application/xhtml+xml'),
      spine: '<itemref idref="p1"/><itemref idref="p2"/>',
      files: {
        'OPS/x/1.xhtml': page('two%20b.png'),
        'OPS/x/2.xhtml': page('one.png'),
        'OPS/one.png': png(1, 2),
        'OPS/two b.png': png(3, 4),
      },
    }),
  )
  t.equal(book.pageCount, 2)
  t.match(book.pages, [
    { name: 'OPS/two b.png', width: 3, height: 4, mediaType: 'image/png' },
    { name: 'OPS/one.png', width: 1, height: 2 },
  ])
})

t.test('an image that is none is refused by its code', async t => {
  const manifest = item('i', 'i.png', 'image/png')
  const book = await openEpub(t.testdir(), epubBytes({ manifest, files: { 'OPS/i.png': 'text' } }))
  await t.rejects(book.page(0), { code: 'unsupported_image' })
  t.equal(await book.cover(), null)
})

t.test('damaged books fail as Unreadable or not at all', async t => {
  const folder = t.testdir()
  const [first, second] = ['plain3.epub', 'fixed-layout.epub'].map(name =>
    readFileSync(join(corpus, 'library/generated-hostile/epub', name)),
  )
  let seed = 42
  const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) % below
  for (let round = 0; round < 600; round++) {
    const bytes = Buffer.from((round % 2 ? first : second)!)
    for (let i = random(12); i >= 0; i--) bytes[random(bytes.length)] = random(256)
    const cut = random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
    const error = await readAll(folder, cut).catch((error: unknown) => error)
    if (error !== undefined && !(error instanceof Unreadable)) t.fail(String(error), { round })
  }
  t.pass('600 of them')
})

async function readAll(folder: string, bytes: Uint8Array): Promise<undefined> {
  await using book = await openEpub(folder, bytes)
  await book.metadata()
  await book.cover()
  for (const index of book.pages.keys()) await book.page(index)
}
