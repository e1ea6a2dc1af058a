// The Pages list of ComicInfo: what the images are, not which images there are.
import type { PageNote } from './metadata.ts'
import { integer, line } from './text.ts'
import { childrenOf, type XmlElement } from './xml.ts'

const types = [
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

const mostPages = 65_536

/** Notes by image, the first of an index; entries that say nothing are left out. Bad entries give one warning. */
export function pageNotes(
  pages: XmlElement | undefined,
  warnings: string[],
): PageNote[] | undefined {
  const notes = new Map<number, PageNote>()
  let bad = 0
  for (const element of childrenOf(pages, 'page').slice(0, mostPages)) {
    const note = noteOf(element)
    if (note === null) bad++
    else if (note.type !== null || note.double || note.bookmark !== null) {
      if (!notes.has(note.image)) notes.set(note.image, note)
    }
  }
  if (bad > 0) warnings.push(`ComicInfo Pages has ${bad} entries without a usable Image number`)
  return notes.size > 0 ? [...notes.values()] : undefined
}

function noteOf({ attributes }: XmlElement): PageNote | null {
  const image = integer(attributes.get('image') ?? '')
  if (!(image >= 0 && image < mostPages)) return null
  // The schema declares Type as a list; ComicRack writes one value.
  const type = attributes.get('type')?.trim().split(/\s+/)[0]?.toLowerCase()
  return {
    image,
    type: types.find(known => known.toLowerCase() === type) ?? null,
    double: /^\s*(?:true|1|yes)\s*$/i.test(attributes.get('doublepage') ?? ''),
    bookmark: line(attributes.get('bookmark')) ?? null,
  }
}
