// Spreads of a book of fixed layout: which pages are side by side.
import type { Publication } from '../content/publication.ts'

/** Sections side by side, from left to right; null for an empty page. */
type Spread = readonly (number | null)[]

/** The first page alone, then pairs, unless the book places a page on a side. */
export function spreadsOf(
  publication: Pick<Publication, 'sections' | 'isRightToLeft'>,
  isTwoWide: boolean,
): Spread[] {
  const { sections, isRightToLeft } = publication
  if (!isTwoWide) return sections.map((_, i) => [i])
  const spreads: Spread[] = []
  const first = isRightToLeft ? 'right' : 'left'
  const second = isRightToLeft ? 'left' : 'right'
  let pending: number | null = null
  const add = (one: number | null, two: number | null) => {
    spreads.push(isRightToLeft ? [two, one] : [one, two])
    pending = null
  }
  for (const [i, { page }] of sections.entries()) {
    const side = page ?? (i === 0 || pending !== null ? second : first)
    const isPairEnd = side === second
    if (pending !== null && !isPairEnd) add(pending, null)
    if (side === 'center') spreads.push([i])
    else if (isPairEnd) add(pending, i)
    else pending = i
  }
  if (pending !== null) add(pending, null)
  return spreads
}
