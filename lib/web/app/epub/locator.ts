// Places of an EPUB as Readium locators: for recorded positions and bookmarks, and back.
import type { BookmarkPlace, ReadiumLocator } from '../reading/bookmarks.ts'
import { readingDevice } from '../reading/device.ts'
import type { ReadingPosition } from '../reading/recorder.ts'
import { type Publication, pathOf, sectionOf } from './content/publication.ts'
import { type Position, type Target, targetAt } from './view/book-view.ts'

export type Locator = {
  href: string
  type: string
  title?: string | null
  locations?: {
    progression?: number | null
    totalProgression?: number | null
    fragments?: string[] | null
  } | null
  text?: { highlight?: string | null } | null
}

/** Place of a locator, written by this application or another one. */
export function targetOf(publication: Publication, { href, locations, text }: Locator): Target {
  const path =
    pathOf(publication.id, href)?.path ?? href.replace(/[#?].*$/s, '').replace(/^\/+/, '')
  const section = sectionOf(publication, path)
  const { progression, totalProgression } = locations ?? {}
  if (section < 0) return targetAt(publication, totalProgression ?? 0)
  if (progression == null) {
    const fragment = locations?.fragments?.find(id => !id.includes('('))
    return fragment ? { section, at: { id: fragment } } : { section }
  }
  return { section, at: { progression, text: text?.highlight ?? undefined } }
}

/** A position as the recorder stores it. */
export function recordedPosition(publication: Publication, position: Position): ReadingPosition {
  const { section, progression, totalProgression, isEnd } = position
  const { start, count } = publication.sections[section]!
  const locator = locatorOf(publication, position)
  const modified = new Date().toISOString()
  return {
    toPercentage: totalProgression,
    r2Progression: JSON.stringify({ modified, device: readingDevice(), locator }),
    pages: [start + Math.floor(progression * count) + 1],
    isEnd,
  }
}

function locatorOf(publication: Publication, position: Position) {
  const { section, progression, totalProgression, text, entry } = position
  const { href, type, start, count } = publication.sections[section]!
  return {
    ...{ href, type },
    title: publication.contents[entry]?.title.slice(0, 200),
    locations: {
      progression,
      totalProgression,
      position: Math.min(start + count, start + Math.floor(progression * count) + 1),
    },
    ...(text.trim() && { text: { highlight: text } }),
  }
}

/** The end of a section is in its last part, not in the next section. */
const almostAll = 1 - 1e-9

/** The displayed part of the book for bookmarks. */
export function bookmarkPlace(publication: Publication, position: Position): BookmarkPlace {
  const { from, to } = position.shown
  return {
    locator: locatorOf(publication, position) as ReadiumLocator,
    isShown({ locator }) {
      if (!locator) return false
      const { section, at } = targetOf(publication, locator)
      const progression = typeof at === 'object' && 'progression' in at ? at.progression : 0
      const place = section + Math.min(progression, almostAll)
      return place >= Math.min(from, section + almostAll) && place < to
    },
  }
}
