// Positions of KOReader: a page number, or an XPointer of its EPUB engine (crengine) with the fraction read.
// `/body/DocFragment[n]` is the n-th item of the spine.
import type { EpubContents } from '../../media/format/epub/contents.ts'
import { type FormatName, isReflowable } from '../../media/format/formats.ts'
import type { PositionUpdate } from '../../reading/position.ts'
import { locatorAtProgression, locatorInSection } from './locator.ts'
import type { Locator, ReadingSection } from './positions.ts'

/** How a document was found: by the partial MD5 of the file, or by the MD5 of its name. */
export type DocumentMatch = 'content' | 'filename'

/** In the form that the device writes and reads. */
export type KoreaderPosition = {
  /** `12`, or `/body/DocFragment[5]/body/p[3]/text().0`. */
  progress: string
  /** 0 to 1. */
  percentage: number
  device: string
  device_id: string
  /** How the writing device identified its document; absent if computed by the server. */
  match?: DocumentMatch
}

export type KoreaderBook = { format: FormatName | null; pageCount: number }

/** A page of a comic or PDF; a fraction of a text, whose pages depend on the device. */
export function toPositionUpdate(
  { progress, percentage }: Pick<KoreaderPosition, 'progress' | 'percentage'>,
  { format, pageCount }: KoreaderBook,
): PositionUpdate {
  const page = /^\d{1,6}$/.test(progress) ? Number(progress) : null
  if (isReflowable(format) || page === null || page < 1) return { progressPercentage: percentage }
  return { currentPage: pageCount > 0 ? Math.min(page, pageCount) : page }
}

type Epub = { contents: EpubContents; sections: readonly ReadingSection[] }

/** The XPointer to the start of the resource that contains that fraction of the text. */
export function pointerAt(totalProgression: number, { contents, sections }: Epub): string {
  const { href } = locatorAtProgression(totalProgression, sections)
  const section = sections.findIndex(other => other.href === href)
  const item = contents.spine.indexOf(contents.readingOrder[section]!)
  return `/body/DocFragment[${item + 1}]/body`
}

/** A Readium locator in the resource of an XPointer, otherwise at the fraction of the whole text. */
export function locatorOfPointer(
  { progress, percentage }: Pick<KoreaderPosition, 'progress' | 'percentage'>,
  { contents, sections }: Epub,
): Locator {
  const fragment = /^\/body\/DocFragment\[(\d{1,6})\]/.exec(progress)?.[1]
  // A book with a single resource has no index.
  const item = fragment ?? (/^\/body\/DocFragment(?:[./]|$)/.test(progress) ? 1 : 0)
  const resource = contents.spine[Number(item) - 1]
  const section = resource === undefined ? -1 : contents.readingOrder.indexOf(resource)
  return section < 0
    ? locatorAtProgression(percentage, sections)
    : locatorInSection(section, percentage, sections)
}
