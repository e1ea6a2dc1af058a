// Turning, scrolling and zooming of pages.
import { scrollBehavior } from '../ui/layout.ts'
import { maxZoom, type Point, type Reader, type ZoomFocus } from './reader.ts'

/** Shows the page at that side. */
export function turn(reader: Reader, side: 'left' | 'right') {
  const isForward = (side === 'right') === (reader.settings.value.direction === 'ltr')
  reader.step(isForward ? 1 : -1)
}

/** Whether the element can scroll further in the direction of `delta`. */
export function canScroll(element: HTMLElement | null, delta: number, isSideways = false): boolean {
  if (!element) return false
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = element
  const [position, rest] = isSideways
    ? [scrollLeft, scrollWidth - clientWidth - scrollLeft]
    : [scrollTop, scrollHeight - clientHeight - scrollTop]
  return delta > 0 ? rest > 1 : position > 1
}

/** Scrolls by a fraction of the window. */
export function scrollPart(scroller: Element, part: number) {
  const top = scroller.clientHeight * part
  scroller.scrollBy({ top, behavior: scrollBehavior() })
}

const minStripZoom = 0.3
const step = 1.25

/** `point`: fixed point of the window, its middle by default. */
export function zoomTo(reader: Reader, zoom: number, point?: Point) {
  const isStrip = reader.layout.value === 'strip'
  const next = Math.min(maxZoom, Math.max(isStrip ? minStripZoom : 1, zoom))
  const spread = document.querySelector('.reader-slide.current .reader-spread, .reader-column')
  if (spread) {
    const { left, top, width, height } = spread.getBoundingClientRect()
    const { x, y } = point ?? { x: innerWidth / 2, y: innerHeight / 2 }
    reader.zoomFocus.value = { x, y, u: (x - left) / width, v: (y - top) / height }
  }
  // Otherwise the page could scroll by a few pixels.
  reader.zoom.value = Math.abs(next - 1) < 0.04 ? 1 : next
}

export const zoomIn = (reader: Reader, point?: Point) =>
  zoomTo(reader, reader.zoom.value * step, point)
export const zoomOut = (reader: Reader, point?: Point) =>
  zoomTo(reader, reader.zoom.value / step, point)

/** Zooms if Ctrl is held, which is also how browsers report touchpad pinches; returns whether it did. */
export function zoomByWheel(reader: Reader, event: WheelEvent): boolean {
  if (!event.ctrlKey && !event.metaKey) return false
  event.preventDefault()
  const factor = Math.exp(-event.deltaY * (event.deltaMode === 0 ? 0.004 : 0.1))
  zoomTo(reader, reader.zoom.value * factor, { x: event.clientX, y: event.clientY })
  return true
}

/** Listeners for two fingers; each returns whether it handled the event. */
export function createPinch(reader: Reader) {
  let began: { distance: number; zoom: number } | null = null
  return {
    start(event: TouchEvent): boolean {
      const [first, second] = event.touches
      if (!first || !second) return false
      event.preventDefault()
      began = { distance: distanceOf(first, second), zoom: reader.zoom.value }
      return true
    },
    move(event: TouchEvent): boolean {
      const [first, second] = event.touches
      if (!began || !first || !second) return false
      event.preventDefault()
      zoomTo(reader, (began.zoom * distanceOf(first, second)) / began.distance, {
        x: (first.clientX + second.clientX) / 2,
        y: (first.clientY + second.clientY) / 2,
      })
      return true
    },
    end() {
      began = null
    },
  }
}

const distanceOf = (a: Touch, b: Touch) =>
  Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY))

/** Scrolls so that the fixed point of the last zoom stays in place. */
export function restoreFocus(focus: ZoomFocus, scroller: Element, spread: Element) {
  const { left, top, width, height } = spread.getBoundingClientRect()
  scroller.scrollLeft += left + focus.u * width - focus.x
  scroller.scrollTop += top + focus.v * height - focus.y
}
