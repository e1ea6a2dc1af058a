// Pages below each other: a strip of known height, of which only the part around the window is rendered.
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { type ComponentChildren, h } from '../ui/h.ts'
import { createTaps } from './gestures.ts'
import { PageFigure } from './page-figure.ts'
import { medianRatio, pageAt, type Strip, stripOf } from './page-layout.ts'
import type { Reader } from './reader.ts'
import { zoomIn, zoomOut } from './zoom.ts'

// A line of this width is comfortable to read on a wide screen.
const columnWidth = 860
const gapWidth = 12
/** Parts of the window that are rendered before and after it. */
const overscan = { before: 1, after: 1.5 }
const preloadedAhead = 2
/** Part of the window from the top: the page there is the current one. */
const readingLine = 0.4

type StripViewProps = { reader: Reader; endCard: ComponentChildren }

/** A page and the part of it, from 0 to 1, that is at the top of the window. */
type Anchor = { index: number; part: number }

export function StripView({ reader, endCard }: StripViewProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const anchor = useRef<Anchor>({ index: reader.page.peek() - 1, part: 0 })
  const scrollTop = useSignal(0)
  const { width, strip } = useStrip(reader)
  const { viewport, pages } = reader
  const tap = useMemo(
    () =>
      createTaps(reader, (_, zone) =>
        scrollPart(scroller.current!, (zone === 'right') === isForwardRight(reader) ? 0.8 : -0.8),
      ),
    [reader],
  )
  const { height } = viewport.value
  const first = pageAt(strip, scrollTop.value - overscan.before * height)
  const last = pageAt(strip, scrollTop.value + (1 + overscan.after) * height)
  useScrolling({ reader, scroller, anchor, strip, onScroll: top => (scrollTop.value = top) })
  useEffect(() => {
    const visible = pageAt(strip, scroller.current!.scrollTop)
    const ahead = pages.value.slice(first, last + 1 + preloadedAhead)
    const wanted = ahead.map(page => ({ page, width }))
    // What is before the window comes last.
    const behind = wanted.splice(0, Math.max(0, visible - first))
    reader.images.want([...wanted, ...behind.reverse()])
  }, [first, last, width, pages.value])
  return h(
    'div',
    {
      class: 'reader-strip',
      ref: scroller,
      dir: 'ltr',
      tabIndex: 0,
      role: 'group',
      onClick: (event: MouseEvent) => tap(event),
    },
    h(
      'div',
      {
        class: 'reader-column',
        style: { width: `${width}px`, height: `${strip.tops.at(-1)}px` },
      },
      pages.value.slice(first, last + 1).map((page, i) =>
        h(PageFigure, {
          reader,
          page,
          key: page.number,
          size: { width, height: strip.heights[first + i]! },
          top: strip.tops[first + i]!,
        }),
      ),
    ),
    h('div', { class: 'reader-strip-end' }, endCard),
  )
}

const isForwardRight = (reader: Reader) => reader.settings.value.direction === 'ltr'

/** Scrolls by a part of the window. */
export function scrollPart(scroller: Element, part: number) {
  const top = scroller.clientHeight * part
  scroller.scrollBy({ top, behavior: prefersLessMotion() ? 'instant' : 'smooth' })
}

const prefersLessMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches

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
    const width = Math.max(120, Math.floor(widths[fit] * zoom.value))
    return { width, strip: stripOf(pages.value, width, hasGaps ? gapWidth : 0) }
  }).value
}

/** Follows the scroll position, and restores it when the strip changes or another page is opened. */
function useScrolling({
  reader,
  scroller,
  anchor,
  strip,
  onScroll,
}: {
  reader: Reader
  scroller: { current: HTMLDivElement | null }
  anchor: { current: Anchor }
  strip: Strip
  onScroll: (top: number) => void
}) {
  const latest = useRef(strip)
  latest.current = strip
  const jump = reader.jump.value
  useLayoutEffect(() => {
    const { index, part } = anchor.current
    scroller.current!.scrollTop = strip.tops[index]! + part * strip.heights[index]!
    onScroll(scroller.current!.scrollTop)
  }, [strip])
  useLayoutEffect(() => {
    const top = latest.current.tops[jump.page - 1]!
    if (!jump.isSmooth || prefersLessMotion()) anchor.current = { index: jump.page - 1, part: 0 }
    const behavior = jump.isSmooth && !prefersLessMotion() ? 'smooth' : 'instant'
    scroller.current!.scrollTo({ top, behavior })
  }, [jump])
  useEffect(() => {
    const element = scroller.current!
    let frame = 0
    const update = () => {
      frame = 0
      const { tops, heights } = latest.current
      const { scrollTop, clientHeight } = element
      const index = pageAt(latest.current, scrollTop)
      anchor.current = { index, part: (scrollTop - tops[index]!) / heights[index]! }
      onScroll(scrollTop)
      const isAtEnd = scrollTop + clientHeight >= tops.at(-1)! - 2
      reader.isAtEnd.value = isAtEnd
      const shown = pageAt(latest.current, scrollTop + clientHeight * readingLine)
      const page = isAtEnd ? reader.count : shown + 1
      reader.page.value = page
      reader.place.value = page
    }
    const schedule = () => {
      frame ||= requestAnimationFrame(update)
    }
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      if (event.deltaY < 0) zoomIn(reader)
      else zoomOut(reader)
    }
    element.addEventListener('scroll', schedule, { passive: true })
    element.addEventListener('wheel', onWheel, { passive: false })
    schedule()
    return () => {
      cancelAnimationFrame(frame)
      element.removeEventListener('scroll', schedule)
      element.removeEventListener('wheel', onWheel)
    }
  }, [reader])
}
