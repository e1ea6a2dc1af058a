// Parser for the Pages element of ComicInfo: page types, two-page spreads and bookmarks.

import { parseInteger, singleLine } from './text.ts'
import type { PageNote } from './values.ts'
import { childrenOf, type XmlElement } from './xml.ts'

const pageTypes = [
  'FrontCover',
  'InnerCover',
  'Roundup',
  'Story',
  'Advertisement',
  'Editorial',
  'Letters',
  'Preview',
  'BackCover',
  'Other',
  'Deleted',
]

const maxPages = 65_536

/**
 * Notes by image index (the first one of duplicates); ignores entries without information. Invalid entries
 * yield one warning in total.
 */
export function pageNotes(
  pages: XmlElement | undefined,
  warnings: string[],
): PageNote[] | undefined {
  const notes = new Map<number, PageNote>()
  let invalid = 0
  for (const element of childrenOf(pages, 'page').slice(0, maxPages)) {
    const note = noteOf(element)
    if (note === null) invalid++
    else if (note.type !== null || note.double || note.bookmark !== null) {
      if (!notes.has(note.image)) notes.set(note.image, note)
    }
  }
  if (invalid > 0)
    warnings.push(`ComicInfo Pages has ${invalid} entries without a valid Image number`)
  return notes.size > 0 ? [...notes.values()] : undefined
}

function noteOf({ attributes }: XmlElement): PageNote | null {
  const image = parseInteger(attributes.get('image') ?? '')
  if (!(image >= 0 && image < maxPages)) return null
  // The schema declares Type as a list; ComicRack writes a single value.
  const type = attributes.get('type')?.trim().split(/\s+/)[0]?.toLowerCase()
  return {
    image,
    type: pageTypes.find(known => known.toLowerCase() === type) ?? null,
    double: /^\s*(?:true|1|yes)\s*$/i.test(attributes.get('doublepage') ?? ''),
    bookmark: singleLine(attributes.get('bookmark')) ?? null,
  }
}
