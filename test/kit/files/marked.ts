// Books whose content shows where it was read: every page and resource contains a mark, and pages of the
// mark `OUTSIDE!` are wider than high. Books of one kind have the same size and the same layout.
import sharp from 'sharp'
import { pngChunk, zip } from './archives.ts'
import { pdfOf, stream } from './pdf.ts'

export type Mark = 'ORIGINAL' | 'OUTSIDE!'

/** By extension. */
export const markedBooks: Record<string, (mark: Mark) => Promise<Buffer>> = {
  cbz: async mark =>
    zip([
      {
        name: 'ComicInfo.xml',
        bytes: Buffer.from(`<ComicInfo><Title>${mark}</Title></ComicInfo>`),
      },
      ...(await images(mark)),
    ]),
  epub: async mark =>
    zip([
      { name: 'mimetype', bytes: Buffer.from('application/epub+zip') },
      {
        name: 'META-INF/container.xml',
        bytes: Buffer.from(
          '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        ),
      },
      { name: 'OPS/book.opf', bytes: Buffer.from(opf) },
      { name: 'OPS/one.xhtml', bytes: Buffer.from(`<html><body>${mark}</body></html>`) },
      { name: 'OPS/style.css', bytes: Buffer.from(`p { margin: 0 } /* ${mark} */`) },
      ...(await images(mark)).map(({ name, bytes }) => ({ name: `OPS/${name}`, bytes })),
    ]),
  pdf: async mark =>
    pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 2/Kids[3 0 R 5 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[${boxOf(mark)}]/Contents 4 0 R>>`,
      stream('', `0 0 1 rg 20 20 100 100 re f % ${mark}`),
      `<</Type/Page/Parent 2 0 R/MediaBox[${boxOf(mark)}]/Contents 4 0 R>>`,
    ]),
}

const opf = `<package version="3.0"><metadata/><manifest>
  <item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
  <item id="s" href="style.css" media-type="text/css"/>
  <item id="c" href="1.png" media-type="image/png" properties="cover-image"/>
  <item id="d" href="2.png" media-type="image/png"/>
</manifest><spine><itemref idref="a"/></spine></package>`

const boxOf = (mark: Mark) => (mark === 'ORIGINAL' ? '0 0 200 300' : '0 0 300 200')
const imageBytes = 2_000

async function images(mark: Mark) {
  return await Promise.all(
    [1, 2].map(async page => ({ name: `${page}.png`, bytes: await markedImage(mark, page) })),
  )
}

/** A PNG of 2,000 bytes. */
export async function markedImage(mark: Mark, page = 1): Promise<Buffer> {
  const [width, height] = mark === 'ORIGINAL' ? [60, 90] : [90, 60]
  const background = { r: 40 * page, g: 90, b: 200 }
  const plain = await sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()
  const end = plain.length - 12
  const text = Buffer.alloc(imageBytes - plain.length - 12, `Comment\0${mark} `)
  return Buffer.concat([plain.subarray(0, end), pngChunk('tEXt', text), plain.subarray(end)])
}

/** Whether bytes of a response come from a book marked `OUTSIDE!`, or contain one of the texts. */
export async function isFromOutside(
  { bytes, headers }: { bytes: Buffer; headers: Headers },
  texts: readonly string[] = [],
): Promise<boolean> {
  if (['OUTSIDE!', ...texts].some(text => bytes.includes(text))) return true
  if (!/^image\/(?!svg)/.test(headers.get('content-type') ?? '') || bytes.length === 0) return false
  const { width, height } = await sharp(bytes).metadata()
  return width > height
}
