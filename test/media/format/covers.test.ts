// Covers of books whose best candidate cannot be decoded.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { readCover } from '../../../lib/media/format/formats.ts'
import { loadEngine } from '../../../lib/media/format/pdf/engine.ts'
import { pdfReader } from '../../../lib/media/format/pdf/pdf.ts'
import { createCover } from '../../../lib/media/image/cover.ts'
import { openPath, tarEnd, tarEntry, zip } from '../../kit/files/archives.ts'
import { epubBytes } from '../../kit/files/epub.ts'
import { exampleImage } from '../../kit/files/images.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../kit/files/stored-archives.ts'
import { use } from '../../kit/use.ts'
import { picture } from '../../page/books.ts'

const good = await picture(60, 90)
const avif = await exampleImage('avif')
const undecodable = avif.subarray(0, avif.length / 2)
const images = [
  { name: '1.avif', bytes: undecodable },
  { name: '2.avif', bytes: undecodable },
  { name: '3.jpg', bytes: good },
]

async function coverOf(t: Test, name: string, bytes: Uint8Array) {
  const path = join(t.testdir(), name)
  writeFileSync(path, bytes)
  const file = use(t, openPath(path))
  const options = { maxSide: 400, format: 'webp', quality: 75 } as const
  const extension = name.slice(name.lastIndexOf('.') + 1)
  return readCover(file, extension, image => createCover(image, options), defaultLimits)
}

t.test('the cover is the first page that can be decoded, in every container', async t => {
  const manifest = images
    .map(({ name }, i) => {
      const type = name.endsWith('jpg') ? 'image/jpeg' : 'image/avif'
      const properties = i === 0 ? ' properties="cover-image"' : ''
      return `<item id="i${i}" href="${name}" media-type="${type}"${properties}/>`
    })
    .join('')
  const files = Object.fromEntries(images.map(({ name, bytes }) => [`OPS/${name}`, bytes]))
  const books: Record<string, Uint8Array> = {
    'a.cbz': zip(images),
    'a.cbr': storedRar(images),
    'a.cb7': storedSevenZip(images),
    'a.cbt': Buffer.concat([...images.map(({ name, bytes }) => tarEntry(name, bytes)), tarEnd]),
    'a.epub': epubBytes({ manifest, files }),
  }
  for (const [name, bytes] of Object.entries(books))
    t.match(await coverOf(t, name, bytes), { width: 60, height: 90 }, name)
})

t.test('without a page that can be decoded the error is that of the first', async t => {
  const bytes = zip([{ name: '0.svg', bytes: Buffer.from('<svg><script/></svg>') }, images[0]!])
  await t.rejects(coverOf(t, 'a.cbz', bytes), { code: 'unsupported_image', message: /scripts/ })
})

t.test('a page of a PDF that fails in a used engine is rendered in a new one', async t => {
  const pdf = pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
    stream('', '0 0 1 rg 20 20 100 100 re f'),
  ])
  t.ok(await coverOf(t, 'a.pdf', pdf))
  const used = await loadEngine()
  const { toPixmap } = used.mupdf.PDFPage.prototype
  used.mupdf.PDFPage.prototype.toPixmap = () => {
    throw new Error('state of an earlier file')
  }
  t.teardown(() => {
    used.mupdf.PDFPage.prototype.toPixmap = toPixmap
  })
  t.ok(await coverOf(t, 'b.pdf', pdf))
  t.not(await loadEngine(), used)
  const path = join(t.testdir(), 'c.pdf')
  writeFileSync(path, pdf)
  const file = use(t, openPath(path))
  const opened = use(t, await pdfReader.open(file, defaultLimits))
  const { bytes } = await opened.page(0)
  t.match(await sharp(bytes).metadata(), { format: 'jpeg' }, 'later pages, too')
})
