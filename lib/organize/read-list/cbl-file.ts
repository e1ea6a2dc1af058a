// CBL reading list (ComicRack): the name of a list and its entries, each with series, number, volume year and book
// year.
//
//   <ReadingList><Name>…</Name><Books>
//     <Book Series="…" Number="…" Volume="2011" Year="2012" Format="Annual"><Database Name="cv" Issue="…"/><Id>…</Id></Book>
import { singleLine } from '../../media/metadata/text.ts'
import { parseXml, type XmlElement } from '../../media/metadata/xml.ts'

export type CblEntry = {
  series: string
  /** As written; empty for none. */
  number: string
  /** Usually the year in which the series began, otherwise its number. */
  volume: number | null
  year: number | null
  format: string | null
  /** Id of a book, if this server wrote the list. */
  bookId: string | null
  /** Id of the issue on Comic Vine. */
  comicVineId: string | null
}
export type CblList = { name: string | null; entries: CblEntry[] }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const comicVineNames = new Set(['cv', 'comicvine', 'comic vine'])

export type CblInput = { bytes: Uint8Array; maxEntries: number }

// Longer names would be slow to match with patterns and in the database.
const maxTextLength = 200

/** Null when it is not a CBL file. Reads at most `maxEntries + 1` entries. Never throws. */
export function parseCbl({ bytes, maxEntries }: CblInput): CblList | null {
  const { root } = parseXml(bytes)
  if (root?.name !== 'readinglist') return null
  const books = childrenOf(root, 'books').flatMap(list => childrenOf(list, 'book'))
  const entries = books.slice(0, maxEntries + 1).map(entryOf)
  return { name: textOf(root, 'name') ?? null, entries }
}

function entryOf(book: XmlElement): CblEntry {
  const text = (name: string) =>
    singleLine(book.attributes.get(name)?.slice(0, maxTextLength)) ?? ''
  const id = textOf(book, 'id') ?? ''
  const vine = childrenOf(book, 'database').find(({ attributes }) =>
    comicVineNames.has((attributes.get('name') ?? '').toLowerCase()),
  )
  return {
    series: text('series'),
    number: text('number'),
    volume: integerOf(text('volume')),
    year: integerOf(text('year')),
    format: text('format') || null,
    bookId: uuid.test(id) ? id.toLowerCase() : null,
    comicVineId: /^\d{1,12}$/.exec(vine?.attributes.get('issue')?.trim() ?? '')?.[0] ?? null,
  }
}

/** ComicRack writes -1 for none. */
function integerOf(text: string): number | null {
  return /^\d{1,4}$/.test(text) && Number(text) > 0 ? Number(text) : null
}

function childrenOf({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter(child => typeof child !== 'string' && child.name === name) as XmlElement[]
}

function textOf(element: XmlElement, name: string): string | undefined {
  const [child] = childrenOf(element, name)
  return singleLine(child?.children.filter(part => typeof part === 'string').join(''))
}
