// Readium locators (a resource and the progression in it): their schema, and their conversion from and to the
// catalog's progress (a page or a fraction of the whole).
import { Invalid } from '../../base/errors.ts'
import { foldName } from '../../base/path.ts'
import { component, list, name, optional, type Static, Type, text } from '../../base/schema.ts'
import type { EpubContents } from '../../media/format/epub/contents.ts'
import { pagesBefore } from '../../reading/position.ts'
import {
  countPositions,
  fraction,
  type Locator,
  pageAtProgression,
  type ReadingSection,
} from './positions.ts'

export const maxLocatorBytes = 8 * 1024
const share = () => optional(Type.Number({ minimum: 0, maximum: 1 }))
const optionalText = () => optional(text(maxLocatorBytes))

const open = { additionalProperties: true }

/** A Readium locator, returned as it was written. Empty values are omitted. */
export const ReadiumLocator = component(
  'ReadiumLocator',
  {
    href: name(maxLocatorBytes),
    type: name(200),
    title: optionalText(),
    locations: optional(
      component(
        'ReadiumLocations',
        {
          fragments: optional(list(text(2000), { maxItems: 100 })),
          position: optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
          progression: share(),
          totalProgression: share(),
        },
        open,
      ),
    ),
    text: optional(
      component(
        'ReadiumText',
        { before: optionalText(), highlight: optionalText(), after: optionalText() },
        open,
      ),
    ),
  },
  {
    ...open,
    description:
      'A Readium locator of at most 8 KiB, stored unchanged. URLs of this server are returned with the catalog path of the request.',
  },
)
/** A locator written by an app; `position` is 1-based, the other numbers range from 0 to 1. */
export type ClientLocator = Static<typeof ReadiumLocator>

/** The 1-based page, from its number, its URL or the total progression. Throws Invalid. */
export function pageOfLocator(bookId: string, locator: ClientLocator, pageCount: number): number {
  const { position, totalProgression } = locator.locations ?? {}
  const page = position ?? pageInAddress(bookId, locator)
  if (page !== null) {
    if (page < 1 || (pageCount > 0 && page > pageCount))
      throw new Invalid(`locator refers to a page that does not exist: the book has ${pageCount}`)
    return page
  }
  if (totalProgression == null) throw new Invalid('locator does not refer to a page')
  return pageAtProgression(totalProgression, pageCount)
}

/** The page of this book in the URL of a locator; null if there is none. */
export function pageInAddress(bookId: string, { href, locations }: ClientLocator): number | null {
  const [, book, page] =
    /\/books\/([^/]+)\/pages\/(\d{1,9})(?:\/raw)?\/?(?:[?#]|$)/.exec(href) ?? []
  if (book?.toLowerCase() === bookId) return Number(page)
  const fragments = [...(locations?.fragments ?? []), href.split('#')[1] ?? '']
  const pages = fragments.flatMap(fragment => /^page=(\d{1,9})$/.exec(fragment)?.[1] ?? [])
  return pages[0] === undefined ? null : Number(pages[0])
}

/**
 * The fraction of the text before the locator, 0 to 1, and its position. Apps that count positions differently may
 * name one in another resource, which is ignored. Throws Invalid for a resource that the book does not have.
 */
export function placeOfLocator(
  locator: ClientLocator,
  contents: EpubContents,
  sections: readonly ReadingSection[],
): { progressPercentage: number; currentPage?: number | undefined } {
  const { position, progression, totalProgression } = locator.locations ?? {}
  const total = countPositions(sections)
  const index = findResource(locator.href, sections)
  if (index < 0) {
    // Resources outside the reading order, such as images, have no positions of their own.
    if (findResource(locator.href, contents.resources) < 0 || totalProgression == null)
      throw new Invalid('locator does not refer to a resource of the reading order')
    return { progressPercentage: totalProgression }
  }
  const start = countPositions(sections.slice(0, index))
  const { count } = sections[index]!
  const isHere = position != null && position > start && position <= start + count
  const currentPage = isHere ? position : undefined
  if (progression != null)
    return { currentPage, progressPercentage: fraction(start + progression * count, total) }
  if (totalProgression != null) return { currentPage, progressPercentage: totalProgression }
  const place = position != null && position <= total ? position - 1 : start
  return { currentPage, progressPercentage: fraction(place, total) }
}

/** The locator with that fraction of the text before it. */
export function locatorAtProgression(
  totalProgression: number,
  sections: readonly ReadingSection[],
): Locator {
  const before = pagesBefore(totalProgression, countPositions(sections))
  let start = 0
  let index = 0
  while (index < sections.length - 1 && start + sections[index]!.count <= before)
    start += sections[index++]!.count
  return locatorInSection(index, totalProgression, sections)
}

/** The same within a given section: at its start or end if the fraction is outside. */
export function locatorInSection(
  index: number,
  totalProgression: number,
  sections: readonly ReadingSection[],
): Locator {
  const total = countPositions(sections)
  const start = countPositions(sections.slice(0, index))
  const { href, type, count } = sections[index]!
  const before = Math.min(Math.max(pagesBefore(totalProgression, total), start), start + count)
  const progression = fraction(before - start, count)
  const position = Math.min(start + count, Math.floor(before) + 1)
  const locations = { progression, position, totalProgression: fraction(before, total) }
  return { href, type, locations }
}

/** Index of the resource with that URL, on this server or as written in the book; -1 if there is none. */
function findResource(href: string, resources: readonly { name: string }[]): number {
  const withoutQuery = href.replace(/[?#].*$/s, '')
  const served = /\/books\/[^/]+\/resource\/(.+)$/s.exec(withoutQuery)?.[1]
  const path = decode(served ?? withoutQuery)
  const name = foldName(path.replace(/^(?:\.{0,2}\/)+/, ''))
  if (name === '') return -1
  const exact = resources.findIndex(resource => resource.name === path)
  if (exact >= 0) return exact
  const folded = resources.findIndex(resource => foldName(resource.name) === name)
  return folded >= 0
    ? folded
    : resources.findIndex(resource => foldName(resource.name).endsWith(`/${name}`))
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
