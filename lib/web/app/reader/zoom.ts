// Zoom of pages: about a point of the window, which stays where it is.
import { maxZoom, type Point, type Reader, type ZoomFocus } from './reader.ts'

const minStripZoom = 0.3
const step = 1.25

/** `point`: of the window; its middle by default. */
export function zoomTo(reader: Reader, zoom: number, point?: Point) {
  const isStrip = reader.layout.value === 'strip'
  const next = Math.min(maxZoom, Math.max(isStrip ? minStripZoom : 1, zoom))
  const spread = document.querySelector('.reader-slide.current .reader-spread')
  if (spread) {
    const { left, top, width, height } = spread.getBoundingClientRect()
    const { x, y } = point ?? { x: innerWidth / 2, y: innerHeight / 2 }
    reader.zoomFocus.value = { x, y, u: (x - left) / width, v: (y - top) / height }
  }
  // Small differences would leave a page that scrolls by a few pixels.
  reader.zoom.value = Math.abs(next - 1) < 0.04 ? 1 : next
}

export const zoomIn = (reader: Reader, point?: Point) =>
  zoomTo(reader, reader.zoom.value * step, point)
export const zoomOut = (reader: Reader, point?: Point) =>
  zoomTo(reader, reader.zoom.value / step, point)

/** Scrolls so that the point of the last zoom is where it was. */
export function restoreFocus(focus: ZoomFocus, scroller: Element, spread: Element) {
  const { left, top, width, height } = spread.getBoundingClientRect()
  scroller.scrollLeft += left + focus.u * width - focus.x
  scroller.scrollTop += top + focus.v * height - focus.y
}
