// Pages of a document: laid out by the settings; text offsets restore the place after a layout change.
import type { BookDocument } from '../content/document.ts'
import type { EpubSettings } from '../settings.ts'
import { type Flow, pagedFlow, scrolledFlow } from './flow.ts'
import { type Area, directionOf, geometryOf } from './geometry.ts'
import { type Palette, presentationCss } from './presentation.ts'
import { indexText } from './text-index.ts'

type PagePosition = { page: number; pages: number; offset: number; progression: number }

export type Pager = ReturnType<typeof createPager>

export type Layout = { settings: EpubSettings; palette: Palette; area: Area }

/** Pages of `opened` in `scroller`, which scrolls if the text is one long column. */
export function createPager(
  { frame, document }: BookDocument,
  scroller: HTMLElement,
  layout: Layout,
) {
  const style = document.createElement('style')
  document.head.append(style)
  const direction = directionOf(document)
  const index = indexText(document)
  /** The offset that stays in view when the layout changes. */
  let anchor = 0
  /** Start of the displayed part when `place` was called. */
  let placedAt = 0
  let flow = layOut(layout)

  function layOut({ settings, palette, area }: Layout): Flow {
    const { body } = document
    const geometry = geometryOf(settings, area, direction.isVertical)
    const { width, height, columns, margin, isScrolled, isVertical } = geometry
    frame.style.width = `${width}px`
    frame.style.height = `${height}px`
    body.style.transform = ''
    style.textContent = presentationCss(settings, palette, geometry)
    for (const sheet of document.styleSheets)
      if (sheet.ownerNode !== style) sheet.disabled = settings.styles === 'none'
    fitTables(document, isVertical ? height - 2 * margin : width / columns - 2 * margin)
    const name = isVertical ? 'scrolled-vertical' : 'scrolled'
    scroller.dataset.flow = isScrolled ? name : 'paginated'
    scroller.dataset.writing = direction.isVerticalLeft ? 'vertical-lr' : ''
    const options = { frame, body, direction, geometry }
    return isScrolled ? scrolledFlow(options, scroller) : pagedFlow(options)
  }

  function showOffset(offset: number) {
    anchor = offset
    if (offset <= 0) return flow.showPage(0)
    const rectangle = index.rectangleAt(offset)
    if (rectangle) flow.showDistance(flow.distance(rectangle))
    else flow.showPage(flow.pages - 1)
  }

  function offsetInView(): number {
    const start = flow.start()
    if (start <= 0) return 0
    return index.firstOffset(rectangle => flow.distance(rectangle) + 1 >= start) ?? index.length
  }

  return {
    ...{ document, frame, index, showOffset },
    /** Whether the next page is on the left. */
    isRightToLeft: direction.isRightToLeft || (direction.isVertical && !direction.isVerticalLeft),
    layOut(next: Layout) {
      flow = layOut(next)
      showOffset(anchor)
    },
    place(): PagePosition {
      placedAt = flow.start()
      const offset = offsetInView()
      const progression = Math.min(1, offset / index.length)
      return { page: flow.page, pages: flow.pages, offset, progression }
    },
    /** False at the start and at the end. */
    turn(step: 1 | -1): boolean {
      const isTurned = flow.advance(step)
      if (isTurned) anchor = offsetInView()
      return isTurned
    },
    showLast() {
      flow.showPage(flow.pages - 1)
      anchor = offsetInView()
    },
    showElement(element: Element) {
      const rectangle = element.getClientRects()[0]
      if (!rectangle) return showOffset(index.offsetOf(element))
      flow.showDistance(flow.distance(rectangle))
      anchor = index.offsetOf(element)
    },
    /** Called after scrolling; false unless the reader scrolled away from the latest place. */
    rememberPlace(): boolean {
      if (Math.abs(flow.start() - placedAt) < 2) return false
      anchor = offsetInView()
      return true
    },
  }
}

const minZoom = 0.5
const maxTables = 300

/**
 * Shrinks wide tables until they fit, down to a readable size. `width`: column width in CSS pixels. Words are broken
 * only in tables that do not fit otherwise.
 */
function fitTables(document: Document, width: number) {
  const tables = [...document.querySelectorAll('table')].slice(0, maxTables)
  for (const table of tables) {
    table.style.removeProperty('zoom')
    delete table.dataset.fitted
  }
  const widths = tables.map(table => table.offsetWidth)
  for (const [i, table] of tables.entries()) {
    const zoom = width / widths[i]!
    if (!(zoom < 1)) continue
    table.style.setProperty('zoom', String(Math.max(minZoom, zoom)))
    if (zoom < minZoom) table.dataset.fitted = ''
  }
}
