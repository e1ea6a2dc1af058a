// Spreads of a fixed-layout book: which pages are side by side.
import type { Publication, Section } from '../content/publication.ts'

/** Sections side by side, from left to right; null for an empty page. */
type Spread = readonly (number | null)[]

/**
 * The first page alone, then pairs, unless the book assigns a side. `isPaired`: whether a page may be part of a pair.
 */
export function spreadsOf(
  publication: Pick<Publication, 'sections' | 'isRightToLeft'>,
  isPaired: (section: Section) => boolean,
): Spread[] {
  const { sections, isRightToLeft } = publication
  const spreads: Spread[] = []
  const first = isRightToLeft ? 'right' : 'left'
  const second = isRightToLeft ? 'left' : 'right'
  let pending: number | null = null
  const add = (one: number | null, two: number | null) => {
    spreads.push(isRightToLeft ? [two, one] : [one, two])
    pending = null
  }
  for (const [i, section] of sections.entries()) {
    const { page } = section
    const isAlone = page === 'center' || !section.isFixed || !isPaired(section)
    if (isAlone) {
      if (pending !== null) add(pending, null)
      spreads.push([i])
      continue
    }
    const side = page ?? (i === 0 || pending !== null ? second : first)
    const isPairEnd = side === second
    if (pending !== null && !isPairEnd) add(pending, null)
    if (isPairEnd) add(pending, i)
    else pending = i
  }
  if (pending !== null) add(pending, null)
  return spreads
}
