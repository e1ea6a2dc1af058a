import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Unreadable } from '../../../lib/errors.ts'
import { openFile } from '../../../lib/file.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { pdf } from '../../../lib/format/pdf/pdf.ts'
import { measureImage } from '../../../lib/image/image.ts'
import { corpus, example, read } from '../../image/corpus.ts'
import { openPdf, pdfOf, type Row, rows, scanned, stream } from './pdf-files.ts'

const jpeg = example('jpeg')
const scan = { jpeg, width: 550, height: 368 }
const measure = (bytes: Uint8Array) => measureImage(async () => bytes)

/** Why `count` does not fit what the row allows, or null. */
function misfit(pages: Row['expected']['pages'], count: number): string | null {
  if (pages === undefined) return null
  const { min = 0, max = Infinity } = typeof pages === 'number' ? { min: pages, max: pages } : pages
  return count >= min && count <= max ? null : `${count} pages`
}

t.test('every PDF of the corpus gives what is expected of it', async t => {
  for (const { path, expected } of rows()) {
    try {
      using file = openFile(Buffer.from(join(corpus, path)))
      await using opened = await pdf.open(file, defaultLimits)
      t.not(expected.outcome, 'fail-clean', path)
      t.equal(misfit(expected.pages, opened.pageCount), null, path)
      t.equal(opened.pages.length, opened.pageCount)
      const [reading] = await opened.metadata()
      // A byte order mark that another reader took for text is no expectation.
      const wanted = (text = '') => (text.startsWith('ï»¿') ? '' : text.replace(/\0/g, ''))
      if (wanted(expected.title)) t.equal(reading?.metadata.title, wanted(expected.title), path)
      if (wanted(expected.author))
        t.equal(reading?.metadata.authors?.map(a => a.name).join(), wanted(expected.author), path)
      const { mediaType, width, height } = { ...opened.pages[0], ...(await opened.page(0)) }
      t.ok(mediaType === 'image/jpeg' && width! > 0 && height! > 0, path)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      t.not(expected.outcome, 'ok', `${path}: ${error.message}`)
    }
  }
})

t.test('a password gives encrypted, other ruins their own codes', async t => {
  const needed = 'library/generated-hostile/pdf/encrypted-user-40.pdf'
  await t.rejects(openPdf(t, needed), { code: 'encrypted' })
  await t.rejects(openPdf(t, Buffer.from('%PDF-1.7\nnothing')), { code: 'not_an_archive' })
  const empty = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Count 0/Kids[]>>'])
  await t.rejects(openPdf(t, empty), { code: 'no_pages' })
  const opened = await openPdf(t, scanned(scan))
  await t.rejects(opened.page(1), { code: 'no_pages' })
  const few = { ...defaultLimits, entries: 2 }
  await t.rejects(openPdf(t, 'library/qpdf__qpdf/boxes2.pdf', few), { code: 'too_large' })
})

t.test('a scan is handed out as it is', async t => {
  const opened = await openPdf(t, scanned(scan))
  t.ok(Buffer.from((await opened.page(0)).bytes).equals(jpeg))
  t.match(opened.pages, [{ name: 'page-0001', mediaType: 'image/jpeg', width: 1146, height: 767 }])
  const hidden = 'q 550 0 0 368 0 0 cm /I Do Q BT 3 Tr /F 9 Tf (found text) Tj ET'
  const searchable = await openPdf(t, scanned(scan, { content: hidden }))
  t.ok(Buffer.from((await searchable.page(0)).bytes).equals(jpeg))
  const clipped = 'q 0 0 550 368 re W n 550 0 0 368 0 0 cm /I Do Q'
  const inBox = await openPdf(t, scanned(scan, { content: clipped }))
  t.ok(Buffer.from((await inBox.cover())!).equals(jpeg))
})

t.test('what is more or less than a scan is rendered', async t => {
  const turned = read('files/recurser__exif-orientation-examples/Portrait_6.jpg')
  const drawing = 'q 550 0 0 368 0 0 cm /I Do Q'
  const others: Record<string, Buffer> = {
    text: scanned(scan, { content: `${drawing} BT /F 9 Tf 9 9 Td (text) Tj ET` }),
    line: scanned(scan, { content: `${drawing} 0 0 m 9 9 l S` }),
    twice: scanned(scan, { content: `${drawing} ${drawing}` }),
    part: scanned(scan, { content: 'q 275 0 0 184 0 0 cm /I Do Q' }),
    mirrored: scanned(scan, { content: 'q -550 0 0 368 550 0 cm /I Do Q' }),
    clipped: scanned(scan, { content: `0 0 99 99 re W n ${drawing}` }),
    page: scanned(scan, { page: '/Rotate 90' }),
    inverted: scanned(scan, { image: '/Decode[1 0 1 0 1 0]' }),
    masked: scanned(scan, { image: '/Mask[0 9 0 9 0 9]' }),
    grey: scanned(scan, { colours: '/ColorSpace/DeviceGray' }),
    exif: scanned({ jpeg: turned, width: 1800, height: 1200 }),
  }
  for (const [name, bytes] of Object.entries(others)) {
    const opened = await openPdf(t, bytes)
    const page = await opened.page(0)
    t.notOk(
      [jpeg, turned].some(own => own.equals(page.bytes)),
      name,
    )
    const { width, height } = opened.pages[0]!
    t.match(await measure(page.bytes), { mediaType: 'image/jpeg', width, height }, name)
  }
})

t.test('pages are measured as they are rendered, at 150 dpi', async t => {
  for (const name of ['rotate', 'mediabox-negative', 'userunit']) {
    const opened = await openPdf(t, `library/generated-hostile/pdf/${name}.pdf`)
    const { width, height } = opened.pages[0]!
    t.match(await measure((await opened.page(0)).bytes), { width, height }, name)
    t.ok(width! * height! <= 25_100_000)
  }
  const rotated = await openPdf(t, 'library/generated-hostile/pdf/rotate.pdf')
  t.match(rotated.pages[0], { width: 625, height: 417 })
})

t.test('lying page trees and lost tables do not lose the pages', async t => {
  const good = read('library/generated-hostile/pdf/plain.pdf').toString('latin1')
  const count = async (text: string) => (await openPdf(t, Buffer.from(text, 'latin1'))).pageCount
  t.equal(await count(good.replace('/Count 3', '/Count 9')), 3)
  t.equal(await count(good.replace('/Count 3', '/Count -3')), 3)
  t.equal(await count(good.replace(/startxref\s+\d+/, 'startxref 7')), 3)
  const lost = await openPdf(t, 'library/qpdf__qpdf/append-xref-loop.pdf')
  t.equal(lost.pageCount, 30)
  t.equal(lost.warnings.length, 1)
  const kid = '<</Type/Pages/Count 1/Kids[2 0 R]>>'
  const loop = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', kid])
  await t.rejects(openPdf(t, loop), Unreadable)
})

t.test('thousands of pages cost what the asked ones cost', async t => {
  const pages = Array.from(
    { length: 3000 },
    () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 144]>>',
  )
  const kids = pages.map((_, i) => `${i + 3} 0 R`).join(' ')
  const tree = `<</Type/Pages/Count 3000/Kids[${kids}]>>`
  const padding = stream('', Buffer.alloc(4_000_000))
  const bytes = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', tree, ...pages, padding])
  writeFileSync(join(t.testdir(), 'long.pdf'), bytes)
  using file = openFile(Buffer.from(join(t.testdirName, 'long.pdf')))
  await using opened = await pdf.open(file, defaultLimits)
  t.ok(file.bytesRead < 400_000, `${file.bytesRead} bytes read`)
  t.match(opened.pages[0], { width: 150, height: 300 })
  t.match(opened.pages[2999], { name: 'page-3000', width: null })
  t.match(await measure((await opened.page(2999)).bytes), { width: 150, height: 300 })
})

t.test('what an image claims does not decide how much memory it gets', async t => {
  const dictionary =
    '/Subtype/Image/BitsPerComponent 8/ColorSpace/DeviceRGB/Width 60000/Height 60000'
  const bomb = pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>',
    stream('', 'q 99 0 0 99 0 0 cm /I Do Q'),
    stream(dictionary, 'few bytes'),
  ])
  const before = process.memoryUsage().rss
  const opened = await openPdf(t, bomb)
  await opened.page(0).catch(error => t.ok(error instanceof Unreadable))
  t.ok(process.memoryUsage().rss - before < 900_000_000)
})

t.test('five hundred books leave nothing behind', async t => {
  const path = join(t.testdir({ 'scan.pdf': scanned(scan) }), 'scan.pdf')
  let pages = 0
  const once = async () => {
    using file = openFile(Buffer.from(path))
    await using opened = await pdf.open(file, defaultLimits)
    await opened.metadata()
    await opened.page(0)
    // Not an assertion each: five hundred of them are themselves memory that stays.
    pages += opened.pages.length
  }
  // The engine's heap and our own grow to their size first.
  for (let i = 0; i < 400; i++) await once()
  const before = process.memoryUsage().rss
  for (let i = 0; i < 500; i++) await once()
  const grown = (process.memoryUsage().rss - before) / 1e6
  t.equal(pages, 900)
  t.ok(grown < 60, `${Math.round(grown)} MB more`)
})

t.test('mutated files end in pages or Unreadable, and the engine survives', async t => {
  let seed = 7
  const random = (n: number) => (seed = (seed * 48_271) % 0x7fffffff) % n
  const originals = rows().filter(row => row.expected.outcome === 'ok')
  for (let i = 0; i < 150; i++) {
    const bytes = readFileSync(join(corpus, originals[random(originals.length)]!.path))
    for (let n = 1 + random(12); n > 0; n--) bytes[random(bytes.length)] = random(256)
    const cut = random(8) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
    try {
      const opened = await openPdf(t, cut)
      t.ok(opened.pages.length > 0)
      await opened.metadata()
      await opened.page(opened.pageCount - 1)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      t.not(error.code, 'memory')
    }
  }
  t.equal((await openPdf(t, scanned(scan))).pageCount, 1)
})

t.test('a disk that fails is said to fail, whatever MuPDF made of it', async t => {
  const path = join(t.testdir({ 'scan.pdf': scanned(scan) }), 'scan.pdf')
  using file = openFile(Buffer.from(path))
  let isFailing = false
  const whileSound = <T>(read: () => T): T => {
    if (isFailing) throw new Unreadable('The file cannot be read (EIO)', 'io')
    return read()
  }
  const failing = {
    ...file,
    read: (position: number, length: number) => whileSound(() => file.read(position, length)),
    readInto: (target: Uint8Array, position: number) =>
      whileSound(() => file.readInto(target, position)),
  }
  const opened = await pdf.open(failing, defaultLimits)
  isFailing = true
  await t.rejects(opened.page(0), { code: 'io' })
  await t.rejects(pdf.open(failing, defaultLimits), { code: 'io' })
  await opened[Symbol.asyncDispose]()
})
