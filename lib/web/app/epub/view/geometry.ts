// Page size and writing direction of a document.
import type { EpubSettings } from '../settings.ts'

/** Size of the frame in CSS pixels. */
export type PageGeometry = {
  width: number
  height: number
  columns: 1 | 2
  /** Margins: at the sides (half the column gap), and above and below. */
  margin: number
  marginBlock: number
  isScrolled: boolean
  isVertical: boolean
}

export type Direction = {
  isVertical: boolean
  /** Whether vertical lines run from left to right. */
  isVerticalLeft: boolean
  isRightToLeft: boolean
}

export type Area = { width: number; height: number }

/** Widths of the text at the usual size of letters. */
const columnWidths = { short: 480, normal: 640, long: 860, full: Number.POSITIVE_INFINITY }
const minTwoColumnsWidth = 900
const narrowWidth = 500
const maxNarrowMargin = 36
const margins = { narrow: 12, normal: 28, wide: 64 }

export function geometryOf(settings: EpubSettings, area: Area, isVertical: boolean): PageGeometry {
  const isScrolled = settings.flow === 'scrolled'
  const chosen = margins[settings.margin]
  const margin = area.width < narrowWidth ? Math.min(chosen, maxNarrowMargin) : chosen
  const isWide = area.width >= minTwoColumnsWidth && area.width > area.height
  const isTwo = settings.columns === 'auto' ? isWide : settings.columns === '2'
  const columns = isTwo && !isVertical && !isScrolled ? 2 : 1
  const columnWidth =
    columnWidths[settings.lineLength] * Math.max(1, settings.fontSize / 100) + 2 * margin
  const width = isVertical ? area.width : Math.min(area.width, columns * columnWidth)
  return {
    ...{ columns, margin, isScrolled, isVertical },
    // Columns begin at whole pixels.
    width: Math.floor(width / columns) * columns,
    height: Math.floor(area.height),
    marginBlock: isVertical ? margin : Math.min(32, Math.max(16, margin)),
  }
}

/** The body's writing mode applies to the whole page, like the root's. */
export function directionOf(document: Document): Direction {
  const { documentElement, body, defaultView } = document
  const root = defaultView!.getComputedStyle(documentElement)
  const text = defaultView!.getComputedStyle(body)
  const isBodyVertical = text.writingMode !== 'horizontal-tb'
  const mode = isBodyVertical ? text.writingMode : root.writingMode
  const isVertical = mode !== 'horizontal-tb'
  const isRightToLeft = text.direction === 'rtl' || root.direction === 'rtl'
  if (isVertical) documentElement.style.setProperty('writing-mode', mode, 'important')
  if (isRightToLeft) documentElement.style.setProperty('direction', 'rtl', 'important')
  return {
    isVertical,
    isVerticalLeft: mode === 'vertical-lr' || mode === 'sideways-lr',
    isRightToLeft: isRightToLeft && !isVertical,
  }
}
