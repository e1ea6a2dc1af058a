import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { openFile } from '../../../../lib/base/file.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { pdfReader } from '../../../../lib/media/format/pdf/pdf.ts'
import { measureImage } from '../../../../lib/media/image/image.ts'
import {
  type CorpusBook,
  corpusBooks,
  corpusPath,
  goldenFile,
  goldenPath,
} from '../../../kit/files/corpus.ts'
import { firstCover } from '../../../kit/files/covers.ts'
import { exampleImage, exampleSize, rotatedJpeg } from '../../../kit/files/images.ts'
import { openPdf, pdfOf, scannedPdf, stream } from '../../../kit/files/pdf.ts'
import { createRandom } from '../../../kit/random.ts'
import { use } from '../../../kit/use.ts'

const jpeg = await exampleImage('jpeg')
const scan = { jpeg, ...exampleSize }
const measure = (bytes: Uint8Array) => measureImage(async () => bytes)

/** Why `count` does not fit what the row allows, or null. */
function misfit(pages: CorpusBook['expected']['pages'], count: number): string | null {
  if (pages === undefined) return null
  const { min = 0, max = Infinity } = typeof pages === 'number' ? { min: pages, max: pages } : pages
  return count >= min && count <= max ? null : `${count} pages`
}

t.test('PDFs of the corpus have the expected result', async t => {
  // All of our own, and some of the many others.
  const isTried = ({ name }: CorpusBook, i: number) => name.startsWith('pdf/') || i % 3 === 0
  for (const { name, path, expected } of corpusBooks(['pdf']).filter(isTried)) {
    try {
      await scoped(async use => {
        const file = use(openFile(Buffer.from(path)))
        const opened = use(await pdfReader.open(file, defaultLimits))
        t.not(expected.outcome, 'fail-clean', name)
        t.equal(misfit(expected.pages, opened.pageCount), null, name)
        t.equal(opened.pages.length, opened.pageCount)
        const [reading] = await opened.metadata()
        // A byte order mark that another reader took for text is no expectation.
        const wanted = (text = '') => (text.startsWith('ï»¿') ? '' : text.replace(/\0/g, ''))
        if (wanted(expected.title)) t.equal(reading?.metadata.title, wanted(expected.title), name)
        if (wanted(expected.author))
          t.equal(reading?.metadata.authors?.map(a => a.name).join(), wanted(expected.author), name)
        const { mediaType, width, height } = { ...opened.pages[0], ...(await opened.page(0)) }
        t.ok(mediaType === 'image/jpeg' && width! > 0 && height! > 0, name)
      })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      t.not(expected.outcome, 'ok', `${name}: ${error.message}`)
    }
  }
})

t.test('unreadable files are reported with a code', async t => {
  const locked = goldenPath('pdf/encrypted-user-40.pdf')
  await t.rejects(openPdf(t, locked), { code: 'encrypted' })
  await t.rejects(openPdf(t, Buffer.from('%PDF-1.7\nnothing')), { code: 'truncated' })
  await t.rejects(openPdf(t, Buffer.from('%PDF-1.7\nnothing\n%%EOF')), { code: 'bad_crc' })
  await t.rejects(openPdf(t, Buffer.from('nothing')), { code: 'not_an_archive' })
  const empty = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Count 0/Kids[]>>'])
  await t.rejects(openPdf(t, empty), { code: 'no_pages' })
  const opened = await openPdf(t, scannedPdf(scan))
  await t.rejects(opened.page(1), { code: 'no_pages' })
  const few = { ...defaultLimits, entries: 2 }
  await t.rejects(openPdf(t, goldenPath('pdf/plain.pdf'), few), { code: 'too_large' })
})

t.test('a PDF of which nothing would be shown is unreadable', async t => {
  const pdf = (content: Buffer | string, { page = '' } = {}) =>
    pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]${page}>>`,
      stream('', content),
    ])
  const page = '/Contents[4 0 R]'
  await t.rejects(openPdf(t, pdf('')), {
    code: 'no_pages',
    message: 'The pages of the PDF are empty',
  })
  await t.rejects(openPdf(t, pdf(' q Q ', { page })), { code: 'no_pages' })
  // What a lost key leaves.
  const garbage = Buffer.from(Array.from({ length: 300 }, (_, i) => 128 + ((i * 89) % 128)))
  await t.rejects(openPdf(t, pdf(garbage, { page })), { code: 'bad_crc' })
  for (const content of ['9 9 9 9 re f', 'q /I Do Q', 'BT (text)Tj ET', 'BI EI'])
    t.equal((await openPdf(t, pdf(content, { page }))).pageCount, 1, content)
  const comment = '/Annots[<</Type/Annot/Subtype/Square/Rect[0 0 9 9]>>]'
  t.equal((await openPdf(t, pdf('', { page: comment }))).pageCount, 1)
})

t.test('the JPEG of a scanned page is returned unchanged', async t => {
  const opened = await openPdf(t, scannedPdf(scan))
  t.ok(Buffer.from((await opened.page(0)).bytes).equals(jpeg))
  t.match(opened.pages, [{ name: 'page-0001', mediaType: 'image/jpeg', width: 1146, height: 767 }])
  const hidden = 'q 550 0 0 368 0 0 cm /I Do Q BT 3 Tr /F 9 Tf (found text) Tj ET'
  const searchable = await openPdf(t, scannedPdf(scan, { content: hidden }))
  t.ok(Buffer.from((await searchable.page(0)).bytes).equals(jpeg))
  const clipped = 'q 0 0 550 368 re W n 550 0 0 368 0 0 cm /I Do Q'
  const inBox = await openPdf(t, scannedPdf(scan, { content: clipped }))
  t.ok(Buffer.from((await firstCover(inBox))!).equals(jpeg))
})

t.test('pages that are not plain scans are rendered', async t => {
  const turned = await rotatedJpeg()
  const drawing = 'q 550 0 0 368 0 0 cm /I Do Q'
  const others: Record<string, Buffer> = {
    text: scannedPdf(scan, { content: `${drawing} BT /F 9 Tf 9 9 Td (text) Tj ET` }),
    line: scannedPdf(scan, { content: `${drawing} 0 0 m 9 9 l S` }),
    twice: scannedPdf(scan, { content: `${drawing} ${drawing}` }),
    part: scannedPdf(scan, { content: 'q 275 0 0 184 0 0 cm /I Do Q' }),
    mirrored: scannedPdf(scan, { content: 'q -550 0 0 368 550 0 cm /I Do Q' }),
    clipped: scannedPdf(scan, { content: `0 0 99 99 re W n ${drawing}` }),
    page: scannedPdf(scan, { page: '/Rotate 90' }),
    inverted: scannedPdf(scan, { image: '/Decode[1 0 1 0 1 0]' }),
    masked: scannedPdf(scan, { image: '/Mask[0 9 0 9 0 9]' }),
    grey: scannedPdf(scan, { colours: '/ColorSpace/DeviceGray' }),
    exif: scannedPdf({ jpeg: turned, width: 1800, height: 1200 }),
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

t.test('measured and rendered sizes are equal, at 150 dpi', async t => {
  for (const name of ['rotate', 'mediabox-negative', 'userunit']) {
    const opened = await openPdf(t, goldenPath(`pdf/${name}.pdf`))
    const { width, height } = opened.pages[0]!
    t.match(await measure((await opened.page(0)).bytes), { width, height }, name)
    t.ok(width! * height! <= 25_100_000)
  }
  const rotated = await openPdf(t, goldenPath('pdf/rotate.pdf'))
  t.match(rotated.pages[0], { width: 625, height: 417 })
})

t.test('pages are found despite wrong page trees and missing cross-reference tables', async t => {
  const good = goldenFile('pdf/plain.pdf').toString('latin1')
  const count = async (text: string) => (await openPdf(t, Buffer.from(text, 'latin1'))).pageCount
  t.equal(await count(good.replace('/Count 3', '/Count 9')), 3)
  t.equal(await count(good.replace('/Count 3', '/Count -3')), 3)
  t.equal(await count(good.replace(/startxref\s+\d+/, 'startxref 7')), 3)
  const loopPath = corpusPath('library/qpdf__qpdf/append-xref-loop.pdf', 2)
  if (loopPath !== null) {
    const lost = await openPdf(t, loopPath)
    t.equal(lost.pageCount, 30)
    t.equal(lost.warnings.length, 1)
  }
  const kid = '<</Type/Pages/Count 1/Kids[2 0 R]>>'
  const loop = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', kid])
  await t.rejects(openPdf(t, loop), Unreadable)
})

t.test('cost depends on the requested pages, not on the page count', async t => {
  const pages = Array.from(
    { length: 3000 },
    () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 144]/Contents 3003 0 R>>',
  )
  const kids = pages.map((_, i) => `${i + 3} 0 R`).join(' ')
  const tree = `<</Type/Pages/Count 3000/Kids[${kids}]>>`
  const padding = stream('', Buffer.alloc(4_000_000))
  const content = stream('', '9 9 9 9 re f')
  const bytes = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', tree, ...pages, content, padding])
  writeFileSync(join(t.testdir(), 'long.pdf'), bytes)
  const file = use(t, openFile(Buffer.from(join(t.testdirName, 'long.pdf'))))
  const opened = use(t, await pdfReader.open(file, defaultLimits))
  t.ok(file.bytesRead < 400_000, `${file.bytesRead} bytes read`)
  t.match(opened.pages[0], { width: 150, height: 300 })
  t.match(opened.pages[2999], { name: 'page-3000', width: null })
  t.match(await measure((await opened.page(2999)).bytes), { width: 150, height: 300 })
})

t.test('memory does not depend on the declared size of an image', async t => {
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

t.test('memory does not grow over five hundred books', async t => {
  const path = join(t.testdir({ 'scan.pdf': scannedPdf(scan) }), 'scan.pdf')
  let pages = 0
  const once = async () => {
    const file = use(t, openFile(Buffer.from(path)))
    const opened = use(t, await pdfReader.open(file, defaultLimits))
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

t.test('mutated files yield pages or Unreadable, and the engine remains usable', async t => {
  const { below } = createRandom(7)
  const originals = corpusBooks(['pdf']).filter(({ expected }) => expected.outcome === 'ok')
  for (let i = 0; i < 40; i++) {
    const bytes = readFileSync(originals[below(originals.length)]!.path)
    for (let n = 1 + below(12); n > 0; n--) bytes[below(bytes.length)] = below(256)
    const cut = below(8) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes
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
  t.equal((await openPdf(t, scannedPdf(scan))).pageCount, 1)
})

t.test('an I/O error is reported as such', async t => {
  const path = join(t.testdir({ 'scan.pdf': scannedPdf(scan) }), 'scan.pdf')
  const file = use(t, openFile(Buffer.from(path)))
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
  const opened = await pdfReader.open(failing, defaultLimits)
  isFailing = true
  await t.rejects(opened.page(0), { code: 'io' })
  await t.rejects(pdfReader.open(failing, defaultLimits), { code: 'io' })
  await opened[Symbol.asyncDispose]()
})
