import { readFileSync } from 'node:fs'
import t from 'tap'
import { formatNames, openBook, stemOf } from '../../../lib/media/format/formats.ts'
import { openBytes, openPath, png, tarEnd, tarEntry, zip } from '../../kit/files/archives.ts'
import { goldenPath } from '../../kit/files/corpus.ts'
import { use } from '../../kit/use.ts'

t.test('the format is detected by content, not by file name', async t => {
  const cases: [string, string, string][] = [
    ['rar/rar5-unicode.cbr', 'cbz', 'cbr'],
    ['zip/single-page.cbz', 'pdf', 'cbz'],
    ['zip/single-page.cbz', 'cbr', 'cbz'],
    ['7z/lzma.cb7', 'cbz', 'cb7'],
    ['epub/cover-by-guide.epub', 'cbz', 'cbz'],
    ['epub/cover-by-guide.epub', 'epub', 'epub'],
  ]
  for (const [path, extension, format] of cases) {
    const file = use(t, openPath(goldenPath(path)))
    const book = use(t, await openBook(file, extension))
    t.equal(book.format, format, `${path} as ${extension}`)
  }
})

t.test('a tar is a comic with any comic extension', async t => {
  const file = use(t, openBytes(t.testdir(), Buffer.concat([tarEntry('1.png', png(5)), tarEnd])))
  for (const extension of ['cbt', 'cbz']) {
    const book = use(t, await openBook(file, extension))
    t.equal(book.format, 'cbt')
    t.equal(book.pages[0]!.width, 5)
  }
})

t.test('an archive that contains a PDF is not a PDF', async t => {
  const bytes = zip([
    { name: 'about.pdf', bytes: Buffer.from('%PDF-1.4') },
    { name: '1.png', bytes: png(5) },
  ])
  const file = use(t, openBytes(t.testdir(), bytes))
  const book = use(t, await openBook(file, 'cbz'))
  t.equal(book.format, 'cbz')
})

t.test('a ZIP with a prefix is opened when it has a comic extension', async t => {
  const file = use(
    t,
    openBytes(
      t.testdir(),
      Buffer.concat([Buffer.alloc(5000, 'junk'), zip([{ name: '1.png', bytes: png(5) }])]),
    ),
  )
  const book = use(t, await openBook(file, 'cbz'))
  t.equal(book.pages.length, 1)
  await t.rejects(openBook(file, 'pdf'), { code: 'not_an_archive' })
})

t.test('empty and other files are rejected', async t => {
  const empty = use(t, openBytes(t.testdir(), Buffer.alloc(0)))
  await t.rejects(openBook(empty, 'cbz'), { code: 'truncated' })
  for (const extension of ['cbz', 'cbr', 'pdf', 'epub']) {
    const page = use(
      t,
      openBytes(t.testdir(), Buffer.from('<!doctype html><title>404</title>'), extension),
    )
    await t.rejects(openBook(page, extension), { name: 'Unreadable' })
  }
})

t.test('large comics are indexed by reading less than 2 % of the file', async t => {
  const picture = Buffer.concat([png(100), Buffer.alloc(400_000, 'x')])
  const pages = Array.from({ length: 20 }, (_, i) => ({ name: `${i}.png`, bytes: picture }))
  const file = use(t, openBytes(t.testdir(), zip(pages)))
  const book = use(t, await openBook(file, 'cbz'))
  t.equal(book.pages.length, 20)
  t.ok(file.bytesRead < file.size * 0.02, `${file.bytesRead} of ${file.size}`)
})

t.test('pages are in natural order', async t => {
  const file = use(t, openPath(goldenPath('zip/natural-order.cbz')))
  const book = use(t, await openBook(file, 'cbz'))
  t.same(
    book.pages.map(({ width }) => width),
    [41, 42, 50, 51, 60, 140],
  )
})

t.test('stemOf removes only extensions of books', async t => {
  t.same(['test.vol.1.cbz', 'NoExtension', 'Vol. 1', 'a.b.EPUB', '.cbz'].map(stemOf), [
    'test.vol.1',
    'NoExtension',
    'Vol. 1',
    'a.b',
    '.cbz',
  ])
})

t.test('the check constraints of the database contain all formats', async t => {
  const sql = readFileSync(new URL('../../../sql/0001_baseline.sql', import.meta.url), 'utf8')
  const list = formatNames.map(name => `'${name}'`).join(', ')
  t.ok(sql.includes(`allowed_formats <@ array[${list}]`))
  t.ok(sql.includes(`format in (${list})`))
})
