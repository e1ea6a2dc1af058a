// Positions of a book: locations of about equal length that all reading apps count in the same way (Readium
// position list). Each page is one position; reflowable text has one per 1024 bytes of a resource.
import type { BookFile } from '../../catalog/book/book-file.ts'
import type { EpubContents } from '../../media/format/epub/contents.ts'
import { positionCounts, sum } from '../../media/format/epub/positions.ts'
import { isReflowable, isRendered } from '../../media/format/formats.ts'
import { writeInChunks } from './json-writer.ts'
import { filePath, type Links, resourceLinks } from './links.ts'
import { fileType, servedType } from './media-types.ts'

/** A book's file, with its EPUB contents and the media types of its pages loaded on demand. */
export type ReadableBook = {
  file: BookFile
  links: Links
  contents: () => Promise<EpubContents>
  pageTypes: () => Promise<string[]>
}

/** A resource of the reading order: its name in the book, URL, and number of positions. */
export type ReadingSection = { name: string; href: string; type: string; count: number }

/** A Readium locator written by this server. `progression` is relative to the resource; both are 0 to 1. */
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

/** The positions of a book. Throws Unreadable, Unavailable. */
export async function positionsOf(
  book: ReadableBook,
): Promise<{ count: number; locators: Iterable<Locator> }> {
  if (isReflowable(book.file.format)) {
    const sections = sectionsOf(book.file.id, await book.contents(), book.links)
    return { count: countPositions(sections), locators: locatorsOf(sections) }
  }
  const pages = await pagesOf(book)
  return { count: pages.count, locators: locatorsOfPages(book, pages) }
}

export type Pages = { count: number; types: string[] }

/** The pages of a comic or PDF; for a PDF without media types. */
export async function pagesOf({ file, pageTypes }: ReadableBook): Promise<Pages> {
  if (isRendered(file.format)) return { count: file.pageCount, types: [] }
  const types = await pageTypes()
  return { count: types.length, types }
}

function* locatorsOfPages(book: ReadableBook, pages: Pages): Generator<Locator> {
  for (let page = 1; page <= pages.count; page++) yield pageLocator(book, page, pages)
}

/** The locator of the 1-based `page`. The resource is the file for a PDF, the page for a comic. */
export function pageLocator({ file, links }: ReadableBook, page: number, pages: Pages): Locator {
  const locations = { position: page, totalProgression: progressionOfPage(page, pages.count) }
  const type = pages.types[page - 1]
  if (type !== undefined)
    return { href: links.to(`/books/${file.id}/pages/${page}`), type, locations }
  return {
    ...fileAsResource(file, links),
    locations: { fragments: [`page=${page}`], ...locations },
  }
}

export const fileAsResource = ({ id, name, format }: BookFile, links: Links) => ({
  href: links.to(filePath({ id, fileName: name })),
  type: fileType(format, 2),
})

/** Total progression of a reader on that page: 1 on the last page. */
export const progressionOfPage = (page: number, count: number): number =>
  fraction(Math.min(page, count), count)

/** The 1-based page at that total progression. */
export const pageAtProgression = (totalProgression: number, count: number): number =>
  Math.max(1, Math.round(totalProgression * count))

/** The reading order of an EPUB with the positions of each resource. */
export function sectionsOf(bookId: string, contents: EpubContents, links: Links): ReadingSection[] {
  const { resources, readingOrder, isFixedLayout } = contents
  const documents = readingOrder.map(index => resources[index]!)
  const counts = positionCounts(documents, isFixedLayout)
  const hrefOf = resourceLinks(bookId, links)
  return documents.map((resource, i) => ({
    name: resource.name,
    href: hrefOf(resource.name),
    type: servedType(resource),
    count: counts[i]!,
  }))
}

export const countPositions = (sections: readonly ReadingSection[]): number =>
  sum(sections.map(({ count }) => count))

/** The locators of all positions of the sections. */
export function* locatorsOf(sections: readonly ReadingSection[]): Generator<Locator> {
  const total = countPositions(sections)
  let position = 0
  for (const { href, type, count } of sections) {
    for (let i = 0; i < count; i++) {
      position += 1
      const locations = {
        progression: fraction(i, count),
        position,
        totalProgression: fraction(position - 1, total),
      }
      yield { href, type, locations }
    }
  }
}

/** The position list document, in chunks. */
export function positionList(count: number, locators: Iterable<Locator>): Iterable<string> {
  // The writer omits an empty list, but the format requires it.
  return count === 0
    ? ['{"total":0,"positions":[]}']
    : writeInChunks({ total: count }, { positions: locators })
}

/** `count / whole`, rounded to six digits. */
export const fraction = (count: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((count / whole) * 1e6) / 1e6
