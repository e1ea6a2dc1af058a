// Generators of small books of every format, for OPDS tests.
import sharp from 'sharp'
import { png, tarEnd, tarEntry, zip, zipOfFiles } from '../files/archives.ts'
import { pdfOf, stream } from '../files/pdf.ts'

/** ComicInfo.xml with these elements. */
export function comicInfo(fields: Record<string, string | number>): Buffer {
  const elements = Object.entries(fields).map(
    ([name, value]) => `<${name}>${escaped(String(value))}</${name}>`,
  )
  return Buffer.from(`<?xml version="1.0"?><ComicInfo>${elements.join('')}</ComicInfo>`)
}

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)

type Pages = ('png' | 'jpeg' | 'webp' | 'gif')[]
let counter = 0

/** A CBZ whose pages have these types; every call gives other bytes. */
export async function comicOf(pages: Pages, info: Record<string, string | number> = {}) {
  return zip(await entries(pages, info))
}

/** A CBT whose pages have these types. */
export async function tarOf(pages: Pages): Promise<Buffer> {
  const all = await entries(pages, {})
  return Buffer.concat([...all.map(({ name, bytes }) => tarEntry(name, bytes)), tarEnd])
}

async function entries(pages: Pages, info: Record<string, string | number>) {
  counter += 1
  const images = pages.map(async (type, i) => ({
    name: `${counter}-${i + 1}.${type}`,
    bytes: type === 'png' ? png(20 + i + counter) : await createImage(type, 20 + i + counter),
  }))
  const infoEntry = { name: 'ComicInfo.xml', bytes: comicInfo(info) }
  return [...(Object.keys(info).length > 0 ? [infoEntry] : []), ...(await Promise.all(images))]
}

function createImage(type: 'jpeg' | 'webp' | 'gif' | 'png', width: number): Promise<Buffer> {
  const create = { width, height: 30, channels: 3, background: '#a63' } as const
  return sharp({ create }).toFormat(type).toBuffer()
}

/** A PDF of two pages. */
export const reportPdf = (): Buffer =>
  pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 2/Kids[3 0 R 5 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
    stream('', '0 0 1 rg 20 20 100 100 re f'),
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
  ])

const xhtml = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title><meta name="viewport" content="width=60, height=90"/></head><body>${body}</body></html>`

/** An EPUB 3 of three chapters: one image each (fixed layout), or text. Entry names need escaping. */
export async function epubOf({ title, fixed }: { title: string; fixed: boolean }) {
  const chapters = ['one', 'zwei & <drei>', '100% #4?']
  const names = chapters.map((_, i) => `text/ch ${i + 1} ü&.xhtml`)
  const href = (name: string) => name.split('/').map(encodeURIComponent).join('/')
  const images = await Promise.all(chapters.map((_, i) => createImage('jpeg', 60 + i)))
  const items = names.map(
    (name, i) =>
      `<item id="c${i}" href="${href(name)}" media-type="application/xhtml+xml"/><item id="i${i}" href="images/${i}.jpg" media-type="image/jpeg"/>`,
  )
  const layout = fixed ? '<meta property="rendition:layout">pre-paginated</meta>' : ''
  const toc = names
    .map((name, i) => `<li><a href="${href(name)}">${escaped(chapters[i]!)}</a></li>`)
    .join('')
  const body = (i: number) =>
    fixed
      ? `<img src="../images/${i}.jpg" alt=""/>`
      : `<h1>${escaped(chapters[i]!)}</h1><script>alert(1)</script><p>${'Words and words. '.repeat(150)}</p>`
  return zipOfFiles({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'OPS/book.opf': `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:made:${escaped(title)}</dc:identifier><dc:title>${escaped(title)}</dc:title><dc:language>en</dc:language><dc:creator>Eva &amp; Co</dc:creator>${layout}</metadata><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="css" href="style.css" media-type="text/css"/>${items.join('')}</manifest><spine>${names.map((_, i) => `<itemref idref="c${i}"/>`).join('')}</spine></package>`,
    'OPS/nav.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>${toc}</ol></nav></body></html>`,
    'OPS/style.css': 'p { margin: 0 }',
    ...Object.fromEntries(names.map((name, i) => [`OPS/${name}`, xhtml(body(i))])),
    ...Object.fromEntries(images.map((bytes, i) => [`OPS/images/${i}.jpg`, bytes])),
  })
}
