// Turning pages by a side of the window, after scrolling to the page's end.
import { scrollBehavior } from '../ui/motion.ts'
import type { Reader } from './reader.ts'

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
