// Strip view: a strip of known height, rendered only around the window.
import { batch, type Signal, useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { createTaps, endSelection, hasSelection } from './gestures.ts'
import { PageFigure } from './page-figure.tsx'
import { medianRatio, pageAt, type Strip, stripOf } from './page-layout.ts'
import type { Reader } from './reader.ts'
import { createPinch, restoreFocus, scrollPart, zoomByWheel } from './turning.ts'

// Comfortable reading width on a wide screen.
const columnWidth = 860
const minWidth = 120
const gapWidth = 12
/** Window heights rendered before and after it. */
const overscan = { before: 1, after: 1.5 }
const preloadedAhead = 2
const tapShare = 0.8

type StripViewProps = { reader: Reader; endCard: ComponentChildren }

export function StripView({ reader, endCard }: StripViewProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const scrollTop = useSignal(0)
  /** Whether text was selected when the pointer was pressed: the click only ends the selection. */
  const wasSelected = useRef(false)
  const { width, strip } = useStrip(reader)
  const { viewport, pages } = reader
  const tap = useMemo(
    () =>
      createTaps(reader, zone =>
        scrollPart(scroller.current!, zone === 'top' ? -tapShare : tapShare),
      ),
    [reader],
  )
  const { height } = viewport.value
  const first = pageAt(strip, scrollTop.value - overscan.before * height)
  const last = pageAt(strip, scrollTop.value + (1 + overscan.after) * height)
  useStripScrolling({ reader, scroller, strip, scrollTop })
  useEffect(() => {
    const visible = pageAt(strip, scroller.current!.scrollTop)
    const isSideways = reader.rotation.value % 2 !== 0
    const wanted = reader.originals.value
      .slice(first, last + 1 + preloadedAhead)
      .map((page, i) => ({
        page,
        width: isSideways ? strip.heights[first + i]! : width,
        isNear: first + i <= last,
      }))
    // Pages before the window come last.
    const behind = wanted.splice(0, Math.max(0, visible - first))
    reader.images.want([...wanted, ...behind.reverse()])
  }, [first, last, width, pages.value])
  return (
    <div
      class="reader-strip"
      ref={scroller}
      dir="ltr"
      tabIndex={0}
      role="group"
      onPointerDown={(event: PointerEvent) => {
        wasSelected.current = endSelection(event)
      }}
      onClick={(event: MouseEvent) => {
        if (!wasSelected.current && !hasSelection()) tap(event)
      }}
    >
      <div class="reader-column" style={{ width: `${width}px`, height: `${strip.tops.at(-1)}px` }}>
        {reader.originals.value.slice(first, last + 1).map((page, i) => (
          <PageFigure
            key={page.number}
            reader={reader}
            page={page}
            size={{ width, height: strip.heights[first + i]! }}
            top={strip.tops[first + i]!}
          />
        ))}
      </div>
      <div class="reader-strip-end">{endCard}</div>
    </div>
  )
}

function useStrip(reader: Reader) {
  return useComputed(() => {
    const { viewport, settings, pages, zoom } = reader
    const { width: available, height } = viewport.value
    const { fit, hasGaps } = settings.value
    const natural = Math.max(...pages.value.map(page => page.width ?? 0)) || available
    const widths = {
      screen: Math.min(available, columnWidth),
      width: available,
      height: height * medianRatio(pages.value),
      original: natural,
    }
    const width = Math.max(minWidth, Math.floor(widths[fit] * zoom.value))
    return { width, strip: stripOf(pages.value, width, hasGaps ? gapWidth : 0) }
  }).value
}

/** A page and the fraction of it (0 to 1) at a distance in pixels from the top of the window. */
type Anchor = { index: number; part: number; offset: number }

// The next page becomes current when this little of the previous one is left.
const visibleShare = 0.3
const hidingDistance = 60

type ScrollingOptions = {
  reader: Reader
  scroller: { current: HTMLDivElement | null }
  strip: Strip
  scrollTop: Signal<number>
}

/** Tracks the current page and restores the place when the strip is resized. */
function useStripScrolling({ reader, scroller, strip, scrollTop }: ScrollingOptions) {
  const anchor = useRef<Anchor>({ index: reader.page.peek() - 1, part: 0, offset: 0 })
  const latest = useRef(strip)
  latest.current = strip
  const zoom = useRef(reader.zoom.peek())
  const jump = reader.jump.value
  const seen = useRef(jump)
  /** Last programmatic scroll position. */
  const placedAt = useRef(0)
  const update = useRef<(() => void) | null>(null)
  useLayoutEffect(() => {
    const element = scroller.current!
    const focus = reader.zoomFocus.peek()
    if (focus && zoom.current !== reader.zoom.peek())
      restoreFocus(focus, element, element.firstElementChild!)
    else {
      const { index, part, offset } = anchor.current
      element.scrollTop = strip.tops[index]! + part * strip.heights[index]! - offset
    }
    zoom.current = reader.zoom.peek()
    placedAt.current = scrollTop.value = element.scrollTop
    update.current?.()
  }, [strip])
  useLayoutEffect(() => {
    if (seen.current === jump) return
    seen.current = jump
    anchor.current = { index: jump.page - 1, part: 0, offset: 0 }
    const top = latest.current.tops[jump.page - 1]!
    scroller.current!.scrollTo({ top, behavior: 'instant' })
    placedAt.current = scroller.current!.scrollTop
  }, [jump])
  useEffect(() => {
    const element = scroller.current!
    let frame = 0
    const followScroll = () => {
      frame = 0
      const isByHand = Math.abs(element.scrollTop - placedAt.current) > 2
      batch(() => {
        if (isByHand) reader.movement.value = 'turned'
        follow(reader, element, latest.current)
      })
      anchor.current = anchorAt(latest.current, element)
      scrollTop.value = element.scrollTop
    }
    const schedule = () => {
      frame ||= requestAnimationFrame(followScroll)
    }
    update.current = schedule
    const stopInput = listenForZoom(reader, element)
    const stopHiding = hideMenuOnScroll(reader, element)
    element.addEventListener('scroll', schedule, { passive: true })
    schedule()
    return () => {
      cancelAnimationFrame(frame)
      stopInput()
      stopHiding()
      element.removeEventListener('scroll', schedule)
    }
  }, [reader])
}

/** Keeps the middle of the window in place. */
function anchorAt(strip: Strip, { scrollTop, clientHeight }: Element): Anchor {
  const offset = clientHeight / 2
  const index = pageAt(strip, scrollTop + offset)
  const part = (scrollTop + offset - strip.tops[index]!) / strip.heights[index]!
  return { index, part, offset }
}

/** Makes the page at the top of the window the current one, or the next one when little of it is left. */
function follow(
  reader: Reader,
  { scrollTop, clientHeight, scrollHeight }: Element,
  { tops, heights }: Strip,
) {
  const isAtEnd = scrollTop + clientHeight >= tops.at(-1)! - 2
  const index = pageAt({ tops, heights }, scrollTop)
  const height = heights[index]!
  const visible = tops[index]! + height - scrollTop
  const isLeft = visible < Math.min(clientHeight * visibleShare, height / 2)
  const page = isAtEnd ? reader.count : Math.min(reader.count, index + (isLeft ? 2 : 1))
  reader.isAtEnd.value = isAtEnd
  reader.page.value = page
  // Shows the end card completely.
  reader.place.value = isAtEnd && scrollTop + clientHeight >= scrollHeight - 2 ? 'end' : page
}

function listenForZoom(reader: Reader, element: HTMLElement): () => void {
  const pinch = createPinch(reader)
  const controller = new AbortController()
  const { signal } = controller
  const active = { passive: false, signal } as const
  element.addEventListener('wheel', event => void zoomByWheel(reader, event), active)
  element.addEventListener('touchstart', event => void pinch.start(event), active)
  element.addEventListener('touchmove', event => void pinch.move(event), active)
  element.addEventListener('touchend', pinch.end, { signal })
  element.addEventListener('touchcancel', pinch.end, { signal })
  return () => controller.abort()
}

/** Scrolling by hand hides the menu. */
function hideMenuOnScroll(reader: Reader, element: HTMLElement): () => void {
  let shownAt = element.scrollTop
  const stopWatching = reader.isMenuShown.subscribe(() => {
    shownAt = element.scrollTop
  })
  const onScroll = () => {
    if (document.activeElement?.closest('.reader-bar') || reader.areThumbnailsShown.peek()) return
    if (Math.abs(element.scrollTop - shownAt) > hidingDistance) reader.isMenuShown.value = false
  }
  element.addEventListener('scroll', onScroll, { passive: true })
  return () => {
    stopWatching()
    element.removeEventListener('scroll', onScroll)
  }
}
