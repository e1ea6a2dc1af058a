// Places in books, between reading apps, which name a resource and how far they are in it (Readium
// locator), and the catalogue, which counts pages or parts of the whole.
import { Invalid } from '../errors.ts'
import type { EpubContents } from '../format/epub/contents.ts'
import { foldedName } from '../path.ts'
import { type Locator, pageOfShare, part, positionsIn, type Stretch } from './positions.ts'

/** As an app gives it; `position` counts from 1, the others from 0 to 1. */
export type GivenLocator = {
  href: string
  type: string
  locations?: {
    position?: number | null
    progression?: number | null
    totalProgression?: number | null
    fragments?: string[] | null
  } | null
}

/** The page that is meant, from 1; by its number, by its address, or by how much of the whole it is. Throws Invalid. */
export function pageMeant(bookId: string, locator: GivenLocator, pageCount: number): number {
  const { position, totalProgression } = locator.locations ?? {}
  const page = position ?? pageNamed(bookId, locator)
  if (page !== null) {
    if (page < 1 || (pageCount > 0 && page > pageCount))
      throw new Invalid(`locator names no page: the book has ${pageCount}`)
    return page
  }
  if (totalProgression == null) throw new Invalid('locator names no page')
  return pageOfShare(totalProgression, pageCount)
}

/** The page of this book that the address names; null if it names none. */
export function pageNamed(bookId: string, { href, locations }: GivenLocator): number | null {
  const [, book, page] = /\/books\/([^/]+)\/pages\/(\d{1,9})\/?(?:[?#]|$)/.exec(href) ?? []
  if (book?.toLowerCase() === bookId) return Number(page)
  const fragments = [...(locations?.fragments ?? []), href.split('#')[1] ?? '']
  const named = fragments.flatMap(fragment => /^page=(\d{1,9})$/.exec(fragment)?.[1] ?? [])[0]
  return named === undefined ? null : Number(named)
}

/** How much of the text lies before the place, 0 to 1. Throws Invalid for a resource that the book has not. */
export function shareMeant(
  locator: GivenLocator,
  contents: EpubContents,
  stretches: readonly Stretch[],
): number {
  const { position, progression, totalProgression } = locator.locations ?? {}
  const all = positionsIn(stretches)
  const at = find(locator.href, stretches)
  if (at < 0) {
    // Notes and the like are not counted; where they were opened from is.
    if (find(locator.href, contents.resources) < 0 || totalProgression == null)
      throw new Invalid('locator names nothing that is read in the book')
    return totalProgression
  }
  const start = positionsIn(stretches.slice(0, at))
  if (progression != null) return part(start + progression * stretches[at]!.count, all)
  if (totalProgression != null) return totalProgression
  return part(position != null && position <= all ? position - 1 : start, all)
}

/** The place that has that share of the text before it. */
export function locatorAt(share: number, stretches: readonly Stretch[]): Locator {
  const all = positionsIn(stretches)
  const before = share * all
  let start = 0
  let at = 0
  while (at < stretches.length - 1 && start + stretches[at]!.count <= before)
    start += stretches[at++]!.count
  const { href, type, count } = stretches[at]!
  const progression = Math.min(1, part(before - start, count))
  const position = Math.min(all, Math.floor(before) + 1)
  return { href, type, locations: { progression, position, totalProgression: part(before, all) } }
}

/** The number of the resource that an address names: ours, or as the book itself writes it; -1 for none. */
function find(href: string, resources: readonly { name: string }[]): number {
  const bare = href.replace(/[?#].*$/s, '')
  const path = decoded(/\/books\/[^/]+\/resource\/(.+)$/s.exec(bare)?.[1] ?? bare)
  const name = foldedName(path.replace(/^(?:\.{0,2}\/)+/, ''))
  if (name === '') return -1
  const exact = resources.findIndex(resource => resource.name === path)
  if (exact >= 0) return exact
  const alike = resources.findIndex(resource => foldedName(resource.name) === name)
  return alike >= 0
    ? alike
    : resources.findIndex(resource => foldedName(resource.name).endsWith(`/${name}`))
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
