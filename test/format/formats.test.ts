import { join } from 'node:path'
import t from 'tap'
import { formats, openBook } from '../../lib/format/formats.ts'
import {
  library,
  member,
  onDisk,
  open,
  openCorpus,
  png,
  tarEnd,
  zip,
} from '../archive/archive-files.ts'

t.test('content decides, whatever the file is called', async t => {
  const cases: [string, string, string][] = [
    ['generated-hostile/rar/rar5-unicode.cbr', 'cbz', 'cbr'],
    ['generated-hostile/zip/single-page.cbz', 'pdf', 'cbz'],
    ['generated-hostile/zip/single-page.cbz', 'cbr', 'cbz'],
    ['generated-hostile/7z/lzma.cb7', 'cbz', 'cb7'],
    ['Stuk__jszip/Franz Kafka - The Metamorphosis.epub.cbz', 'cbz', 'cbz'],
    ['Stuk__jszip/Franz Kafka - The Metamorphosis.epub.cbz', 'epub', 'epub'],
  ]
  for (const [path, extension, format] of cases) {
    using file = openCorpus(path)
    await using book = await openBook(file, extension)
    t.equal(book.format, format, `${path} as ${extension}`)
  }
})

t.test('a tar is a comic, also by another name', async t => {
  using file = onDisk(t.testdir(), Buffer.concat([member('1.png', png(5)), tarEnd]))
  for (const extension of ['cbt', 'cbz']) {
    await using book = await openBook(file, extension)
    t.equal(book.format, 'cbt')
    t.equal(book.pages[0]!.width, 5)
  }
})

t.test('a PDF stored in an archive does not make it a PDF', async t => {
  const bytes = zip([
    { name: 'about.pdf', bytes: Buffer.from('%PDF-1.4') },
    { name: '1.png', bytes: png(5) },
  ])
  using file = onDisk(t.testdir(), bytes)
  await using book = await openBook(file, 'cbz')
  t.equal(book.format, 'cbz')
})

t.test('a ZIP behind junk is opened when its extension says comic', async t => {
  using file = onDisk(
    t.testdir(),
    Buffer.concat([Buffer.alloc(5000, 'junk'), zip([{ name: '1.png', bytes: png(5) }])]),
  )
  await using book = await openBook(file, 'cbz')
  t.equal(book.pages.length, 1)
  await t.rejects(openBook(file, 'pdf'), { code: 'not_an_archive' })
})

t.test('empty and foreign files fail clean', async t => {
  using empty = onDisk(t.testdir(), Buffer.alloc(0))
  await t.rejects(openBook(empty, 'cbz'), { code: 'truncated' })
  for (const extension of ['cbz', 'cbr', 'pdf', 'epub']) {
    using page = onDisk(t.testdir(), Buffer.from('<!doctype html><title>404</title>'), extension)
    await t.rejects(openBook(page, extension), { name: 'Unreadable' })
  }
})

t.test('heavy comics are indexed from a hundredth of their bytes', async t => {
  const picture = Buffer.concat([png(100), Buffer.alloc(400_000, 'x')])
  const pages = Array.from({ length: 20 }, (_, i) => ({ name: `${i}.png`, bytes: picture }))
  using file = onDisk(t.testdir(), zip(pages))
  await using book = await openBook(file, 'cbz')
  t.equal(book.pages.length, 20)
  t.ok(file.bytesRead < file.size * 0.02, `${file.bytesRead} of ${file.size}`)
})

t.test('every format has its name once', async t => {
  t.same(
    formats.map(({ name }) => name),
    ['epub', 'pdf', 'cbr', 'cb7', 'cbz', 'cbt'],
  )
  using file = open(join(library, 'generated-hostile/zip/natural-order.cbz'))
  await using book = await openBook(file, 'cbz')
  t.same(
    book.pages.map(({ width }) => width),
    [41, 42, 50, 51, 60, 140],
  )
})
