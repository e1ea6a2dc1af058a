// The positions of a book: places of about equal length that every reading app counts alike (Readium
// position list). Pages have one each; a text that flows one for every 1024 bytes of a resource.
import type { BookFile } from '../catalog/book/book-file.ts'
import type { EpubContents } from '../format/epub/contents.ts'
import { resourceAddresses } from './epub/address.ts'
import { sentType } from './epub/media-type.ts'
import { inPieces } from './json/pieces.ts'
import type { Links } from './links.ts'
import { filePath, fileType } from './naming.ts'

export const positionsType = 'application/vnd.readium.position-list+json'

/** The book that is read: its file, its resources if it is an EPUB, the media types of its pages. */
export type Read = {
  file: BookFile
  links: Links
  contents: () => Promise<EpubContents>
  pageTypes: () => Promise<string[]>
}

/** A resource that is read, its name in the book, and how many positions it has. */
export type Stretch = { name: string; href: string; type: string; count: number }

/** A Readium locator, as it is written here. `progression` is that in the resource, both from 0 to 1. */
export type Locator = {
  href: string
  type: string
  locations: {
    fragments?: string[]
    progression?: number
    position?: number
    totalProgression: number
  }
}

/** The positions of a book: how many, and each. Throws Unreadable, Unavailable. */
export async function positionsOf(
  read: Read,
): Promise<{ count: number; locators: Iterable<Locator> }> {
  if (read.file.format === 'epub') {
    const stretches = stretchesOf(read.file.id, await read.contents(), read.links)
    return { count: positionsIn(stretches), locators: locatorsOf(stretches) }
  }
  const pages = await pagesOf(read)
  return { count: pages.count, locators: locatorsOfPages(read, pages) }
}

export type Pages = { count: number; types: string[] }

/** The pages of a comic or a PDF; of a PDF without types. */
export async function pagesOf({ file, pageTypes }: Read): Promise<Pages> {
  if (file.format === 'pdf') return { count: file.pageCount, types: [] }
  const types = await pageTypes()
  return { count: types.length, types }
}

function* locatorsOfPages(read: Read, pages: Pages): Generator<Locator> {
  for (let page = 1; page <= pages.count; page++) yield pageLocator(read, page, pages)
}

/** Of page `page`, from 1. Of a PDF the resource is the file; of a comic there is one a page. */
export function pageLocator({ file, links }: Read, page: number, pages: Pages): Locator {
  const locations = { position: page, totalProgression: shareOfPage(page, pages.count) }
  const type = pages.types[page - 1]
  if (type !== undefined)
    return { href: links.to(`/books/${file.id}/pages/${page}`), type, locations }
  return { ...wholeFile(file, links), locations: { fragments: [`page=${page}`], ...locations } }
}

/** The file as a resource. */
export const wholeFile = ({ id, name, format }: BookFile, links: Links) => ({
  href: links.to(filePath({ id, fileName: name })),
  type: fileType(format, 2),
})

/** How much of the whole has been read by who is at that page: the last one is all of it. */
export const shareOfPage = (page: number, count: number): number =>
  part(Math.min(page, count), count)

/** The page, from 1, at which that share has been read. */
export const pageOfShare = (share: number, count: number): number =>
  Math.max(1, Math.round(share * count))

const positionBytes = 1024
// Sizes are declared and not true: beyond this the positions of a book are longer.
const mostPositions = 100_000

/** What of an EPUB is read one after another. */
export function stretchesOf(bookId: string, contents: EpubContents, links: Links): Stretch[] {
  const { resources, readingOrder, isFixed } = contents
  const read = readingOrder.map(place => resources[place]!)
  const count = (unit: number) =>
    read.map(({ bytes }) => (isFixed ? 1 : Math.max(1, Math.ceil(bytes / unit))))
  let unit = positionBytes
  while (total(count(unit)) > Math.max(mostPositions, read.length)) unit *= 2
  const counts = count(unit)
  const address = resourceAddresses(bookId, links)
  return read.map((resource, i) => ({
    name: resource.name,
    href: address(resource.name),
    type: sentType(resource),
    count: counts[i]!,
  }))
}

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

export const positionsIn = (stretches: readonly Stretch[]): number =>
  total(stretches.map(({ count }) => count))

/** Of stretches in reading order. */
export function* locatorsOf(stretches: readonly Stretch[]): Generator<Locator> {
  const all = positionsIn(stretches)
  let position = 0
  for (const { href, type, count } of stretches) {
    for (let i = 0; i < count; i++) {
      position += 1
      const locations = {
        progression: part(i, count),
        position,
        totalProgression: part(position - 1, all),
      }
      yield { href, type, locations }
    }
  }
}

/** The document, in pieces. */
export function positionList(count: number, locators: Iterable<Locator>): Iterable<string> {
  // The list has to be there, also with nothing in it.
  return count === 0
    ? ['{"total":0,"positions":[]}']
    : inPieces({ total: count }, { positions: locators })
}

/** A fraction, as exact as anyone needs. */
export const part = (count: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((count / whole) * 1e6) / 1e6
