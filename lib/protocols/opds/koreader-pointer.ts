// XPointers of KOReader's EPUB engine (crengine) as Readium locators, and vice versa: `/body/DocFragment[n]` is the
// n-th item of the spine.
import type { EpubContents } from '../../media/format/epub/contents.ts'
import type { KoreaderPosition } from '../koreader/position.ts'
import { locatorAtProgression, locatorInSection } from './locator.ts'
import type { Locator, ReadingSection } from './positions.ts'

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
