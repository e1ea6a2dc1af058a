// Files of the picture's libraries: comics as CBZ with ComicInfo.xml, novels as EPUB.
import sharp from 'sharp'
import { zipOfFiles } from '../../test/kit/files/archives.ts'
import { epubBytes, item } from '../../test/kit/files/epub.ts'
import { coverImage } from './cover.ts'
import { range } from './drawing.ts'
import type { Title } from './shelf/title.ts'

/** Pages after the cover are blank: they are counted, not shown. */
const blankPage = await sharp({
  create: { width: 48, height: 72, channels: 3, background: '#fff' },
})
  .png()
  .toBuffer()

const escaped = (text: string) => text.replaceAll('&', '&amp;')
const elements = (values: Record<string, string | number | undefined>) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<${name}>${escaped(String(value))}</${name}>`)
    .join('')

export async function comicBytes(title: Title, index: number, isManga: boolean): Promise<Buffer> {
  const info = elements({
    Title: title.books[index],
    Series: title.series,
    Number: index + 1,
    Count: title.books.length,
    Year: title.year + Math.floor(index / 3),
    Writer: title.author,
    Penciller: title.artist,
    Publisher: title.publisher,
    Genre: title.genres,
    Summary: title.summary,
    LanguageISO: 'en',
    Manga: isManga ? 'YesAndRightToLeft' : undefined,
  })
  const pages = range(title.pages - 1).map(i => [
    `${String(i + 2).padStart(3, '0')}.png`,
    blankPage,
  ])
  return zipOfFiles({
    'ComicInfo.xml': `<?xml version="1.0"?><ComicInfo>${info}</ComicInfo>`,
    '001.jpg': await coverImage(title, index),
    ...Object.fromEntries(pages),
  })
}

const dc = (name: string, value: string) =>
  `<dc:${name} xmlns:dc="http://purl.org/dc/elements/1.1/">${escaped(value)}</dc:${name}>`

const sentence = 'The evening train was late again, and the platform smelled of rain and oranges. '

/** Chapters of different lengths by the length of the name. */
export async function novelBytes(title: Title): Promise<Buffer> {
  const chapters = range(12 + (title.series.length % 9))
  const paragraph = `<p>${sentence.repeat(6)}</p>`
  const body = (i: number) => `<h1>Chapter ${i + 1}</h1>${paragraph.repeat(24 + ((i * 7) % 11))}`
  const document = (text: string) =>
    `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>${escaped(title.series)}</title></head><body>${text}</body></html>`
  return epubBytes({
    metadata: [
      dc('title', title.series),
      dc('creator', title.author),
      dc('publisher', title.publisher),
      dc('date', String(title.year)),
      dc('language', 'en'),
      dc('description', title.summary),
      ...title.genres.split(', ').map(genre => dc('subject', genre)),
    ].join(''),
    manifest: [
      ...chapters.map(i => item(`c${i}`, `${i}.xhtml`, 'application/xhtml+xml')),
      item('cover', 'cover.jpg', 'image/jpeg', 'cover-image'),
    ].join(''),
    spine: chapters.map(i => `<itemref idref="c${i}"/>`).join(''),
    files: {
      ...Object.fromEntries(chapters.map(i => [`OPS/${i}.xhtml`, document(body(i))])),
      'OPS/cover.jpg': await coverImage(title, 0),
    },
  })
}
