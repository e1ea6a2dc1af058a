// Pages of a document: laid out by the settings; text offsets restore the place after a layout change.
import type { BookDocument } from '../content/document.ts'
import type { EpubSettings } from '../settings.ts'
import {
  type Area,
  type Direction,
  directionOf,
  geometryOf,
  type PageGeometry,
} from './geometry.ts'
import { type Palette, presentationCss } from './presentation.ts'
import { indexText } from './text-index.ts'

type PagePosition = {
  page: number
  pages: number
  offset: number
  progression: number
  /** Progression of the first text after the displayed part. */
  end: number
}

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

  function offsetAfterView(): number {
    const end = flow.start() + flow.extent
    return index.firstOffset(rectangle => flow.distance(rectangle) + 1 >= end) ?? index.length
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
      const end = Math.min(1, offsetAfterView() / index.length)
      return { page: flow.page, pages: flow.pages, offset, progression, end }
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

/** Page by page in columns, or one scrolling column. Distances are in CSS pixels from the start of the text, in page direction. */
type Flow = {
  pages: number
  page: number
  /** Start and length of the displayed part. */
  start: () => number
  extent: number
  distance: (rectangle: DOMRect) => number
  showPage: (page: number) => void
  /** Scrolls to a distance. */
  showDistance: (distance: number) => void
  /** Scrolls by a screen; false at the end. */
  advance: (step: 1 | -1) => boolean
}

type FlowOptions = {
  frame: HTMLIFrameElement
  body: HTMLElement
  direction: Direction
  geometry: PageGeometry
}

/** Columns are side by side, or stacked in vertical writing; the body is shifted by whole pages. */
function pagedFlow({ body, direction, geometry }: FlowOptions): Flow {
  const { width, height, columns, margin } = geometry
  const { isVertical, isRightToLeft } = direction
  const extent = isVertical ? height : width
  const length = isVertical ? body.scrollHeight : body.scrollWidth
  const shownColumns = Math.max(1, Math.ceil((length - margin - 2) / (extent / columns)))
  const flow: Flow = {
    pages: Math.ceil(shownColumns / columns),
    page: 0,
    start: () => flow.page * extent,
    extent,
    distance(rectangle) {
      const shift = flow.page * extent
      if (isVertical) return rectangle.top + shift
      return (isRightToLeft ? width - rectangle.right : rectangle.left) + shift
    },
    showPage(page) {
      flow.page = Math.min(flow.pages - 1, Math.max(0, page))
      const shift = flow.page * extent * (isRightToLeft && !isVertical ? 1 : -1)
      body.style.transform = shift === 0 ? '' : `translate${isVertical ? 'Y' : 'X'}(${shift}px)`
    },
    showDistance: distance => flow.showPage(Math.floor((distance + 1) / extent)),
    advance(step) {
      const next = flow.page + step
      if (next < 0 || next >= flow.pages) return false
      flow.showPage(next)
      return true
    },
  }
  return flow
}

const advancePart = 0.9

/** The frame is as long as the text, and `scroller` scrolls. */
function scrolledFlow(
  { frame, body, direction, geometry }: FlowOptions,
  scroller: HTMLElement,
): Flow {
  const { width, height, marginBlock } = geometry
  const { isVertical, isVerticalLeft } = direction
  const extent = isVertical ? width : height
  const length = Math.max(extent, isVertical ? body.offsetWidth : body.offsetHeight)
  frame.style[isVertical ? 'width' : 'height'] = `${length}px`
  const start = () => (isVertical ? Math.abs(scroller.scrollLeft) : scroller.scrollTop)
  const scrollTo = (distance: number) => {
    if (!isVertical) scroller.scrollTop = distance
    else scroller.scrollLeft = isVerticalLeft ? distance : -distance
  }
  const flow: Flow = {
    pages: Math.max(1, Math.ceil(length / extent - 0.05)),
    get page() {
      const isEnd = start() + extent >= length - 4
      return isEnd ? flow.pages - 1 : Math.min(flow.pages - 1, Math.round(start() / extent))
    },
    start,
    extent,
    distance(rectangle) {
      if (!isVertical) return rectangle.top
      return isVerticalLeft ? rectangle.left : length - rectangle.right
    },
    showPage: page => scrollTo(page * extent),
    showDistance: distance => scrollTo(Math.max(0, distance - marginBlock)),
    advance(step) {
      const before = start()
      scrollTo(before + step * extent * advancePart)
      return Math.abs(start() - before) >= 2
    },
  }
  return flow
}
