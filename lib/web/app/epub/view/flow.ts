// The two text flows of a document: page by page in columns, or one scrolling column. Distances
// are in CSS pixels from the start of the text, in page direction.
import type { Direction, PageGeometry } from './geometry.ts'

export type Flow = {
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
export function pagedFlow({ body, direction, geometry }: FlowOptions): Flow {
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
export function scrolledFlow(
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
