// Books for the readers of the web application: comics, manga, a webtoon, PDF and EPUB, with pages that look
// different from each other.
import sharp from 'sharp'
import { zipOfFiles } from '../files/archives.ts'
import { epubBytes, item } from '../files/epub.ts'
import { pdfOf, stream } from '../files/pdf.ts'

export type WebBook = {
  /** Relative to the library. The folder is the series. */
  path: string
  title: string
  pages: number
  bytes: () => Promise<Buffer>
}

const page = { width: 600, height: 900 }
type Size = typeof page

/** Books by the names under which tests ask for them; `comic2` follows `comic` in its series. */
export const webBooks = {
  /** Page 3 is a spread of two pages. */
  comic: comicBook('Star Harbour/Star Harbour 001.cbz', {
    title: 'The Lighthouse',
    sizes: [page, page, { width: 1200, height: 900 }, page, page, page],
    info: '<Series>Star Harbour</Series><Number>1</Number><Year>2019</Year><Writer>Ana Author</Writer><Penciller>Ben Penciller</Penciller><Genre>Science Fiction, Adventure</Genre><Summary>A lighthouse keeper sees a light that should not exist.</Summary>',
  }),
  comic2: comicBook('Star Harbour/Star Harbour 002.cbz', {
    title: 'The Tide',
    sizes: [page, page, page],
    info: '<Series>Star Harbour</Series><Number>2</Number><Year>2020</Year><Writer>Ana Author</Writer>',
  }),
  manga: comicBook('Kitsune/Kitsune v01.cbz', {
    title: '狐の道',
    sizes: Array(6).fill(page),
    info: '<Series>Kitsune</Series><Number>1</Number><Manga>YesAndRightToLeft</Manga><LanguageISO>ja</LanguageISO>',
  }),
  /** Its reading direction is set by `startApp`. */
  webtoon: comicBook('Tower Stories/Tower Stories 001.cbz', {
    title: 'Ground Floor',
    sizes: Array(4).fill({ width: 400, height: 2000 }),
    info: '<Series>Tower Stories</Series><Number>1</Number>',
  }),
  pdf: {
    path: 'Field Guide/Field Guide.pdf',
    title: 'Field Guide',
    pages: 4,
    bytes: async () => pdfBook(4),
  },
  /** Reflowable, with four chapters, a table of contents, a style sheet, an image and a footnote. */
  novel: { path: 'Mill/The Mill.epub', title: 'The Mill', pages: 4, bytes: novel },
  /** Fixed layout. */
  picture: { path: 'Garden/Garden.epub', title: 'Garden', pages: 4, bytes: pictureBook },
} satisfies Record<string, WebBook>

export type WebBookName = keyof typeof webBooks

function comicBook(
  path: string,
  { title, sizes, info }: { title: string; sizes: Size[]; info: string },
): WebBook {
  const bytes = async () => {
    const images = await Promise.all(
      sizes.map(async (size, i) => [`${i + 1}.jpg`, await pageImage(i + 1, size)] as const),
    )
    const comicInfo = `<?xml version="1.0"?><ComicInfo><Title>${title}</Title>${info}</ComicInfo>`
    return zipOfFiles({ 'ComicInfo.xml': comicInfo, ...Object.fromEntries(images) })
  }
  return { path, title, pages: sizes.length, bytes }
}

/** A JPEG in the colour of the page number, which is also the number of squares in it. */
export async function pageImage(number: number, { width, height }: Size): Promise<Buffer> {
  const squares = Array.from(
    { length: number },
    (_, i) => `<rect x="${40 + i * 50}" y="60" width="36" height="36" fill="#fff"/>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="100%" height="100%" fill="hsl(${(number * 67) % 360}, 45%, 45%)"/>
    <rect x="20" y="20" width="${width - 40}" height="${height - 40}" fill="none" stroke="#0006" stroke-width="8"/>
    ${squares.join('')}</svg>`
  return await sharp(Buffer.from(svg)).jpeg().toBuffer()
}

export function pdfBook(pages: number): Buffer {
  const first = 4
  const kids = Array.from({ length: pages }, (_, i) => `${first + i * 2} 0 R`).join(' ')
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages}/Kids[${kids}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...Array.from({ length: pages }, (_, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Contents ${first + i * 2 + 1} 0 R/Resources<</Font<</F 3 0 R>>>>>>`,
      stream('', `BT /F 36 Tf 60 480 Td (Field guide, page ${i + 1}) Tj ET`),
    ]).flat(),
  ])
}

const xhtml = (title: string, body: string, head = '') =>
  `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="en" lang="en"><head><title>${title}</title>${head}</head><body>${body}</body></html>`

const titles = ['Water', 'Stone', 'Flour', 'Bread']

async function novel(): Promise<Buffer> {
  const head = '<link rel="stylesheet" type="text/css" href="style.css"/>'
  const chapter = (title: string, number: number) => {
    const paragraphs = Array.from(
      { length: 30 },
      (_, i) =>
        `<p id="p${i + 1}">Paragraph ${i + 1} of chapter ${number}. The mill stood where the river turned, and its wheel moved slowly through the summer and quickly through the rain of autumn.</p>`,
    )
    const note = `<p><a epub:type="noteref" href="#note">1</a> <a href="chapter${(number % 4) + 1}.xhtml#p3">See the next chapter</a> <img src="mill.jpg" alt="A mill"/></p><aside epub:type="footnote" id="note">A note on the wheel.</aside>`
    return xhtml(title, `<h1>${title}</h1>${paragraphs.join('')}${note}`, head)
  }
  const links = titles.map((title, i) => `<li><a href="chapter${i + 1}.xhtml">${title}</a></li>`)
  return epubBytes({
    metadata: `<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">The Mill</dc:title><dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/">Carla Novelist</dc:creator><dc:language xmlns:dc="http://purl.org/dc/elements/1.1/">en</dc:language>`,
    manifest: [
      ...titles.map((_, i) => item(`c${i + 1}`, `chapter${i + 1}.xhtml`, 'application/xhtml+xml')),
      item('nav', 'nav.xhtml', 'application/xhtml+xml', 'nav'),
      item('css', 'style.css', 'text/css'),
      item('image', 'mill.jpg', 'image/jpeg', 'cover-image'),
    ].join(''),
    spine: titles.map((_, i) => `<itemref idref="c${i + 1}"/>`).join(''),
    files: {
      ...Object.fromEntries(
        titles.map((title, i) => [`OPS/chapter${i + 1}.xhtml`, chapter(title, i + 1)]),
      ),
      'OPS/nav.xhtml': xhtml('Contents', `<nav epub:type="toc"><ol>${links.join('')}</ol></nav>`),
      'OPS/style.css': 'p { margin: 0 0 0.5em } h1 { color: darkred }',
      'OPS/mill.jpg': await pageImage(2, { width: 300, height: 450 }),
    },
  })
}

async function pictureBook(): Promise<Buffer> {
  const pages = [1, 2, 3, 4]
  const body = (n: number) =>
    `<div style="position:absolute;left:0;top:0"><img src="${n}.jpg" width="600" height="900" alt="Page ${n}"/></div>`
  const head = '<meta name="viewport" content="width=600, height=900"/>'
  const images = await Promise.all(
    pages.map(async n => [`OPS/${n}.jpg`, await pageImage(n, page)] as const),
  )
  return epubBytes({
    metadata:
      '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">Garden</dc:title><meta property="rendition:layout">pre-paginated</meta>',
    manifest: pages
      .map(
        n =>
          item(`p${n}`, `${n}.xhtml`, 'application/xhtml+xml') +
          item(`i${n}`, `${n}.jpg`, 'image/jpeg', n === 1 ? 'cover-image' : ''),
      )
      .join(''),
    spine: pages.map(n => `<itemref idref="p${n}"/>`).join(''),
    files: {
      ...Object.fromEntries(pages.map(n => [`OPS/${n}.xhtml`, xhtml(`Page ${n}`, body(n), head)])),
      ...Object.fromEntries(images),
    },
  })
}
