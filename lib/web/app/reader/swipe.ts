// Touch input on pages: swipes that move the pages, and pinch.
import type { Reader } from './reader.ts'
import { canScroll, turn } from './turning.ts'
import { createPinch } from './zoom.ts'

const decisionDistance = 8
const turnShare = 0.18
const flickSpeed = 0.45
const slideMs = 220
/** Fraction of the movement that a page follows where it has no neighbor. */
const resistance = 0.25

type Start = { x: number; y: number; at: number; isDecided: boolean; isDragging: boolean }

/** Touch listeners of an element whose slides follow its property `--drag`. */
export function createSwipe(reader: Reader, root: HTMLElement, scroller: () => HTMLElement | null) {
  let start: Start | null = null
  const pinch = createPinch(reader)
  let timer: ReturnType<typeof setTimeout> | undefined

  function follow(dx: number) {
    clearTimeout(timer)
    root.classList.remove('animated')
    root.classList.add('moving')
    const side = dx < 0 ? 1 : -1
    const hasNeighbor = root.querySelector(`[data-offset="${side}"]`) !== null
    root.style.setProperty('--drag', `${Math.round(dx * (hasNeighbor ? 1 : resistance))}px`)
  }
  /** Animates to the final place after a swipe, unless reduced motion is preferred. */
  function finish(side: 'left' | 'right' | null) {
    root.classList.add('animated')
    root.style.setProperty('--drag', '0px')
    if (side) turn(reader, side)
    clearTimeout(timer)
    timer = setTimeout(() => root.classList.remove('animated', 'moving'), slideMs)
  }
  function cancel() {
    if (start?.isDragging) finish(null)
    start = null
    pinch.end()
  }
  return {
    start(event: TouchEvent) {
      if (event.touches.length > 1) cancel()
      const [touch] = event.touches
      if (pinch.start(event) || !touch) return
      const { clientX: x, clientY: y } = touch
      start = { x, y, at: event.timeStamp, isDecided: false, isDragging: false }
    },
    move(event: TouchEvent) {
      const [touch] = event.touches
      if (pinch.move(event) || !touch || !start) return
      const [dx, dy] = [touch.clientX - start.x, touch.clientY - start.y]
      if (!start.isDecided && Math.hypot(dx, dy) > decisionDistance) {
        start.isDecided = true
        start.isDragging = Math.abs(dx) > Math.abs(dy) * 1.2 && !canScroll(scroller(), -dx, true)
      }
      if (!start.isDragging) return
      if (event.cancelable) event.preventDefault()
      follow(dx)
    },
    end(event: TouchEvent) {
      if (event.touches.length > 0) return
      const touch = event.changedTouches[0]
      if (start?.isDragging && touch) {
        const dx = touch.clientX - start.x
        const speed = Math.abs(dx) / Math.max(1, event.timeStamp - start.at)
        const isTurn = Math.abs(dx) > root.clientWidth * turnShare || speed > flickSpeed
        finish(isTurn ? (dx < 0 ? 'right' : 'left') : null)
      }
      start = null
      pinch.end()
    },
    cancel,
  }
}
