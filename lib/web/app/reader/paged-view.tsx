// Paged view: the current spread with its neighbors, zoom, panning, swipes, tap zones.
import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useSlideGestures } from './gestures.ts'
import { PageFigure } from './page-figure.tsx'
import type { WantedPage } from './page-images.ts'
import { type Fit, type PageInfo, type Size, type Spread, sizesOf } from './page-layout.ts'
import type { Reader } from './reader.ts'
import { restoreFocus } from './turning.ts'

const preloadedAhead = 4
const preloadedBehind = 2
/** Number of spreads around the current one whose images are decoded. */
const decoded = { from: -1, to: 2 }
const zoomPauseMs = 200

type PagedViewProps = {
  reader: Reader
  startCard: ComponentChildren
  endCard: ComponentChildren
}

export function PagedView({ reader, startCard, endCard }: PagedViewProps) {
  const root = useRef<HTMLDivElement>(null)
  const gestures = useSlideGestures(reader, root)
  useWantedPages(reader)
  const { spreads, spreadIndex, place } = reader
  const current =
    place.value === 'start' ? -1 : place.value === 'end' ? spreads.value.length : spreadIndex.value
  const isRtl = reader.settings.value.direction === 'rtl'
  const slides = [current - 1, current, current + 1].filter(
    index => index >= -1 && index <= spreads.value.length,
  )
  const contentOf = (index: number) => {
    if (index < 0) return <div class="reader-card-slide">{startCard}</div>
    const spread = spreads.value[index]
    if (!spread) return <div class="reader-card-slide">{endCard}</div>
    return (
      <SpreadView reader={reader} index={index} spread={spread} isCurrent={index === current} />
    )
  }
  return (
    <div class="reader-paged" ref={root} dir="ltr" {...gestures}>
      {slides.map(index => {
        const offset = (index - current) * (isRtl ? -1 : 1)
        return (
          <div
            key={index < 0 ? 'start' : keyOf(spreads.value[index])}
            class={`reader-slide${index === current ? ' current' : ''}`}
            data-offset={offset}
            inert={index !== current}
          >
            {contentOf(index)}
          </div>
        )
      })}
    </div>
  )
}

const keyOf = (spread: Spread | undefined) =>
  spread ? `${spread.pages[0]}${spread.half ?? ''}` : 'end'

type SpreadProps = {
  reader: Reader
  index: number
  spread: Spread
  isCurrent: boolean
}

/** A scrollable spread; scrolling pans pages larger than the window. */
function SpreadView({ reader, index, spread, isCurrent }: SpreadProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { fit, direction } = reader.settings.value
  const zoom = isCurrent ? reader.zoom.value : 1
  const sizes = sizesOfSpread(reader, spread, { fit, zoom })
  const { edge } = reader.jump.value
  // Neighbors are scrolled to their start, also the previous one, which is read from there after a jump.
  useLayoutEffect(() => {
    const element = scroller.current!
    element.scrollTop = isCurrent && edge === 'end' ? element.scrollHeight : 0
    element.scrollLeft = direction === 'rtl' ? element.scrollWidth : 0
  }, [isCurrent, index, fit, direction])
  useLayoutEffect(() => {
    const focus = reader.zoomFocus.peek()
    if (isCurrent && focus)
      restoreFocus(focus, scroller.current!, scroller.current!.firstElementChild!)
  }, [zoom])
  return (
    <div
      class="reader-scroller"
      ref={scroller}
      tabIndex={isCurrent ? 0 : -1}
      role="group"
      data-spread={spread.pages.join('-')}
    >
      <div class={`reader-spread${direction === 'rtl' ? ' rtl' : ''}`}>
        {spread.pages.map((number, i) => (
          <PageFigure
            key={number}
            reader={reader}
            page={reader.originals.value[number - 1]!}
            size={sizes[i]!}
            half={spread.half}
          />
        ))}
      </div>
    </div>
  )
}

/** Size in CSS pixels. Half a page has full height and half the width. */
function sizesOfSpread(
  { pages, viewport }: Reader,
  { pages: numbers, half }: Spread,
  { fit, zoom }: { fit: Fit; zoom: number },
): Size[] {
  const shown = numbers.map((number): PageInfo => {
    const page = pages.value[number - 1]!
    return half && page.width ? { ...page, width: page.width / 2 } : page
  })
  return sizesOf(shown, { viewport: viewport.value, fit, zoom })
}

/** Requests the current spread, its neighbors and the next ones at screen size. */
function useWantedPages(reader: Reader) {
  const wanted = useComputed(() => {
    const { spreads, spreadIndex, originals, settings, zoom, rotation } = reader
    const current = spreadIndex.value
    const offsets = [0, 1, -1]
    for (let i = 2; i <= preloadedAhead; i++) offsets.push(i)
    for (let i = 2; i <= preloadedBehind; i++) offsets.push(-i)
    const found = new Map<number, WantedPage>()
    for (const offset of offsets) {
      const spread = spreads.value[current + offset]
      if (!spread) continue
      const options = { fit: settings.value.fit, zoom: offset === 0 ? zoom.value : 1 }
      const isNear = offset >= decoded.from && offset <= decoded.to
      for (const [i, { width, height }] of sizesOfSpread(reader, spread, options).entries()) {
        const page = originals.value[spread.pages[i]! - 1]!
        const shown = rotation.value % 2 === 0 ? width * (spread.half ? 2 : 1) : height
        // Both halves of a page share one image.
        if (!found.has(page.number)) found.set(page.number, { page, isNear, width: shown })
      }
    }
    return [...found.values()]
  })
  const list = wanted.value
  useEffect(() => {
    if (reader.zoom.peek() === 1) {
      reader.images.want(list)
      return
    }
    // Debounced, because a pinch has many steps.
    const timer = setTimeout(() => reader.images.want(list), zoomPauseMs)
    return () => clearTimeout(timer)
  }, [list])
}
