// Layout of pages: pairs of double pages with spreads alone, sizes by fit mode, and books that are vertical strips.

export type PageInfo = {
  /** From 1. */
  number: number
  /** Size in pixels; null if the file does not state it. */
  width: number | null
  height: number | null
  /** Such as `jpeg`. */
  format: string
  bytes: number
}
export type Size = { width: number; height: number }
export type Fit = 'screen' | 'width' | 'height' | 'original'

/** Pages shown together; `half`: the shown half of a wide page. */
export type Spread = { pages: readonly number[]; half: 'left' | 'right' | null }

const usualRatio = 0.68
const stripRatio = 0.55
const longRatio = 0.4
const maxScale = 4

/** Width divided by height. */
export const ratioOf = ({ width, height }: PageInfo, fallback = usualRatio): number =>
  width && height ? width / height : fallback

const isWide = (page: PageInfo) => ratioOf(page) > 1

/** Median aspect ratio, used for pages without dimensions. */
export function medianRatio(pages: readonly PageInfo[]): number {
  const known = pages
    .filter(({ width, height }) => width && height)
    .map(page => ratioOf(page))
    .sort((a, b) => a - b)
  return known[known.length >> 1] ?? usualRatio
}

type SpreadOptions = {
  isDouble: boolean
  isCoverAlone: boolean
  /** More pages that stand alone, which shifts the pairs after them. */
  shifted: readonly number[]
  /** Splits wide pages in single-page mode. */
  isSplit: boolean
  direction: 'ltr' | 'rtl'
}

/**
 * Pages shown together. Pages wider than high stand alone, and pairs begin again after them; pairs depend only on
 * the book, so that going back shows the same pairs.
 */
export function spreadsOf(pages: readonly PageInfo[], options: SpreadOptions): Spread[] {
  const { isDouble, isCoverAlone, shifted, isSplit, direction } = options
  if (!isDouble) {
    const halves = direction === 'rtl' ? (['right', 'left'] as const) : (['left', 'right'] as const)
    return pages.flatMap(page => {
      const parts = isSplit && isWide(page) ? halves : [null]
      return parts.map(half => ({ pages: [page.number], half }))
    })
  }
  const spreads: number[][] = []
  let isOpen = false
  for (const page of pages) {
    const isAlone =
      isWide(page) || (isCoverAlone && page.number === 1) || shifted.includes(page.number)
    if (isOpen && !isAlone) spreads.at(-1)!.push(page.number)
    else spreads.push([page.number])
    isOpen = !isOpen && !isAlone
  }
  return spreads.map(numbers => ({ pages: numbers, half: null }))
}

/** First page of the run of pairs a page belongs to: after the last wide page before it. */
export function firstOfPairs(pages: readonly PageInfo[], number: number): number {
  const wide = pages.findLast(page => page.number < number && isWide(page))
  return (wide?.number ?? 0) + 1
}

/** Whether the pages form one long strip, as in webtoons. */
export function isStrip(pages: readonly PageInfo[]): boolean {
  if (pages.length === 0) return false
  const long = pages.filter(page => ratioOf(page) < longRatio).length
  return medianRatio(pages) < stripRatio || long >= pages.length * 0.3
}

/** Sizes of the pages of a spread in CSS pixels, all with the same height. */
export function sizesOf(
  spread: readonly PageInfo[],
  { viewport, fit, zoom }: { viewport: Size; fit: Fit; zoom: number },
): Size[] {
  const ratios = spread.map(page => ratioOf(page))
  const ratio = ratios.reduce((sum, value) => sum + value, 0)
  const heights: Record<Fit, number> = {
    screen: Math.min(viewport.height, viewport.width / ratio),
    width: viewport.width / ratio,
    height: viewport.height,
    original: Math.max(...spread.map(page => page.height ?? viewport.height)),
  }
  const isLimited = fit === 'screen' || fit === 'width'
  // Very small images would become unrecognizable.
  const maxHeight = maxScale * Math.max(...spread.map(page => page.height ?? viewport.height))
  // Whole pixels in total, so that pages touch and do not scroll by a fraction.
  const height = Math.round(Math.min(heights[fit], maxHeight) * zoom)
  const total = Math.round(Math.min(height * ratio, isLimited ? viewport.width * zoom : Infinity))
  const first = ratios.length === 1 ? total : Math.round(height * ratios[0]!)
  return ratios.map((_, i) => ({ width: i === 0 ? first : total - first, height }))
}

export type Strip = {
  /** Offset of each page from the top in CSS pixels, and of the end. */
  tops: number[]
  heights: number[]
}

/** A column of pages of the same width. */
export function stripOf(pages: readonly PageInfo[], width: number, gap: number): Strip {
  const fallback = medianRatio(pages)
  const heights = pages.map(page => Math.round(width / ratioOf(page, fallback)))
  const tops = [0]
  for (const [i, height] of heights.entries())
    tops.push(tops[i]! + height + (i < heights.length - 1 ? gap : 0))
  return { tops, heights }
}

/** Index of the page at an offset from the top. */
export function pageAt({ tops }: Strip, top: number): number {
  let low = 0
  let high = tops.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (tops[middle]! <= top) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
