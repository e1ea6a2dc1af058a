// Pointer input on pages: tap zones, double tap, mouse dragging, swipes, pinch, wheel.
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Point, Reader } from './reader.ts'
import { canScroll, createPinch, turn, zoomByWheel, zoomTo } from './turning.ts'

const zoneShare = 0.3
const doubleTapMs = 260
const doubleTapDistance = 32
const doubleTapZoom = 2.2
const dragDistance = 4
const wheelStep = 80
const wheelPauseMs = 220

const isControl = (target: EventTarget | null) =>
  (target as Element).closest('button, a, input, select') !== null

/** A word of a PDF page, which the mouse selects. */
const isWord = (target: EventTarget | null) => (target as Element).closest('.reader-word') !== null

export const hasSelection = () => getSelection()?.isCollapsed === false

/** Ends the selection where the browser does not, beside words; returns whether text was selected. */
export function endSelection({ target, button }: PointerEvent): boolean {
  const wasSelected = hasSelection()
  if (button === 0 && wasSelected && !isWord(target)) getSelection()?.removeAllRanges()
  return wasSelected
}

type Zone = 'left' | 'right' | 'top' | 'bottom' | 'middle'

/** Click handler: the middle zone shows the menu unless a second tap follows, which zooms. */
export function createTaps(reader: Reader, onZone: (zone: Zone) => void) {
  let last: (Point & { at: number }) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  return (event: MouseEvent) => {
    if (isControl(event.target)) return
    // A double click on a word selects it.
    if (isWord(event.target) && event.detail > 1) return clearTimeout(timer)
    const { clientX: x, clientY: y, timeStamp: at } = event
    const zone = zoneOf(reader, { x, y })
    if (zone !== 'middle') {
      last = null
      onZone(zone)
      return
    }
    clearTimeout(timer)
    const isSecond =
      last !== null &&
      at - last.at < doubleTapMs &&
      Math.hypot(x - last.x, y - last.y) < doubleTapDistance
    last = isSecond ? null : { x, y, at }
    if (isSecond) zoomTo(reader, reader.zoom.value === 1 ? doubleTapZoom : 1, { x, y })
    else
      timer = setTimeout(() => {
        reader.isMenuShown.value = !reader.isMenuShown.value
      }, doubleTapMs)
  }
}

/** Sides turn pages; in a strip, top and bottom scroll. Zoomed pages have no zones. */
function zoneOf(reader: Reader, { x, y }: Point): Zone {
  const { width, height } = reader.viewport.value
  const isStrip = reader.layout.value === 'strip'
  if (reader.zoom.value > 1) return 'middle'
  const share = isStrip ? y / height : x / width
  if (share < zoneShare) return isStrip ? 'top' : 'left'
  return share > 1 - zoneShare ? (isStrip ? 'bottom' : 'right') : 'middle'
}

/** Event handlers of the element around the slides; the current `.reader-scroller` scrolls. */
export function useSlideGestures(reader: Reader, root: RefObject<HTMLElement>) {
  const hasDragged = useRef(false)
  const tap = useMemo(
    () => createTaps(reader, zone => (zone === 'left' || zone === 'right') && turn(reader, zone)),
    [reader],
  )
  useEffect(() => {
    const element = root.current!
    const scroller = () => element.querySelector<HTMLElement>('.current .reader-scroller')
    const swipe = createSwipe(reader, element, scroller)
    const onWheel = createWheel(reader, scroller)
    const controller = new AbortController()
    const { signal } = controller
    const active = { passive: false, signal } as const
    element.addEventListener('wheel', onWheel, active)
    element.addEventListener('touchstart', swipe.start, active)
    element.addEventListener('touchmove', swipe.move, active)
    element.addEventListener('touchend', swipe.end, { signal })
    element.addEventListener('touchcancel', swipe.cancel, { signal })
    return () => {
      controller.abort()
      swipe.cancel()
    }
  }, [reader])
  return {
    onClick: (event: MouseEvent) => {
      if (!hasDragged.current && !hasSelection()) tap(event)
      hasDragged.current = false
    },
    onPointerDown: (event: PointerEvent) => startPan(event, root.current!, hasDragged),
  }
}

/** Dragging with the mouse pans pages larger than the window. */
function startPan(event: PointerEvent, root: HTMLElement, hasDragged: { current: boolean }) {
  // The click only ends the selection.
  hasDragged.current = endSelection(event)
  if (event.pointerType !== 'mouse' || event.button !== 0 || isControl(event.target)) return
  if (isWord(event.target)) return
  const scroller = root.querySelector<HTMLElement>('.current .reader-scroller')
  if (!scroller?.contains(event.target as Node)) return
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = scroller
  if (scrollWidth <= clientWidth && scrollHeight <= clientHeight) return
  const move = (moved: PointerEvent) => {
    const [dx, dy] = [moved.clientX - event.clientX, moved.clientY - event.clientY]
    hasDragged.current ||= Math.hypot(dx, dy) > dragDistance
    if (hasDragged.current) scroller.scrollTo(scrollLeft - dx, scrollTop - dy)
  }
  const controller = new AbortController()
  const { signal } = controller
  addEventListener('pointermove', move, { signal })
  addEventListener('pointerup', () => controller.abort(), { signal })
  addEventListener('pointercancel', () => controller.abort(), { signal })
}

/** Ctrl zooms; otherwise the wheel scrolls pages larger than the window, then goes to the next page. */
function createWheel(reader: Reader, scroller: () => HTMLElement | null) {
  let sum = 0
  let lastAt = 0
  let lastScrollAt = 0
  let lastTurnAt = 0
  return (event: WheelEvent) => {
    if (zoomByWheel(reader, event)) return
    const now = event.timeStamp
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
    const delta = (isSideways ? event.deltaX : event.deltaY) * (event.deltaMode === 0 ? 1 : 40)
    if (canScroll(scroller(), delta, isSideways)) {
      lastScrollAt = now
      return
    }
    event.preventDefault()
    if (reader.zoom.value > 1 || now - lastScrollAt < wheelPauseMs) {
      lastScrollAt = reader.zoom.value > 1 ? lastScrollAt : now
      return
    }
    if (now - lastAt > wheelPauseMs || Math.sign(delta) !== Math.sign(sum)) sum = 0
    lastAt = now
    sum += delta
    if (Math.abs(sum) < wheelStep || now - lastTurnAt < wheelPauseMs) return
    sum = 0
    lastTurnAt = now
    if (isSideways) turn(reader, delta > 0 ? 'right' : 'left')
    else reader.step(delta > 0 ? 1 : -1, delta > 0 ? {} : { edge: 'end' })
  }
}

const decisionDistance = 8
const turnShare = 0.18
const flickSpeed = 0.45
const slideMs = 220
/** Fraction of the movement that a page follows where it has no neighbor. */
const resistance = 0.25

type Start = { x: number; y: number; at: number; isDecided: boolean; isDragging: boolean }

/** Touch listeners of an element whose slides follow its property `--drag`. */
function createSwipe(reader: Reader, root: HTMLElement, scroller: () => HTMLElement | null) {
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
      if (pinch.move(event) || !touch || !start || hasSelection()) return
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
