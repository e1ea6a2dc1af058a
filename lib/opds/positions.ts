// The positions of a book: places of about equal length that every reading app counts alike (Readium
// position list). Pages have one each; a text that flows one for every 1024 bytes of a resource.
import type { EpubContents } from '../format/epub-contents.ts'
import { resourceAddress } from './epub/address.ts'
import { sentType } from './epub/media-type.ts'
import type { Links } from './links.ts'

export const positionsType = 'application/vnd.readium.position-list+json'

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
  return read.map((resource, i) => ({
    name: resource.name,
    href: resourceAddress(bookId, resource.name, links),
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

const chunk = 500

/** The document in pieces, so that a long one is never held as a whole. */
export function* positionList(count: number, locators: Iterable<Locator>): Generator<string> {
  let text = `{"total":${count},"positions":[`
  let written = 0
  for (const locator of locators) {
    text += (written === 0 ? '' : ',') + JSON.stringify(locator)
    written += 1
    if (written % chunk > 0) continue
    yield text
    text = ''
  }
  yield `${text}]}`
}

/** A fraction, as exact as anyone needs. */
export const part = (count: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((count / whole) * 1e6) / 1e6
