// Pages side by side: the current spread with its neighbours, zoom, panning, swipes and tap zones.
import { useComputed } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { type ComponentChildren, h } from '../ui/h.ts'
import { useSlideGestures } from './gestures.ts'
import { PageFigure } from './page-figure.ts'
import { type PageInfo, sizesOf } from './page-layout.ts'
import type { Reader } from './reader.ts'
import { restoreFocus } from './zoom.ts'

const preloadedAhead = 4
const preloadedBehind = 2
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
    if (index < 0) return h('div', { class: 'reader-card-slide' }, startCard)
    const spread = spreads.value[index]
    if (!spread) return h('div', { class: 'reader-card-slide' }, endCard)
    return h(Spread, { reader, index, numbers: spread, isCurrent: index === current })
  }
  return h(
    'div',
    { class: 'reader-paged', ref: root, dir: 'ltr', ...gestures },
    slides.map(index => {
      const offset = (index - current) * (isRtl ? -1 : 1)
      return h(
        'div',
        {
          key: index < 0 ? 'start' : (spreads.value[index]?.[0] ?? 'end'),
          class: `reader-slide${index === current ? ' current' : ''}`,
          'data-offset': offset,
          inert: index !== current,
        },
        contentOf(index),
      )
    }),
  )
}

type SpreadProps = {
  reader: Reader
  index: number
  numbers: readonly number[]
  isCurrent: boolean
}

/** A scrollable spread; scrolling pans what is larger than the window. */
function Spread({ reader, index, numbers, isCurrent }: SpreadProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const pages = numbers.map(number => reader.pages.value[number - 1]!)
  const { fit, direction } = reader.settings.value
  const zoom = isCurrent ? reader.zoom.value : 1
  const sizes = sizesOf(pages, { viewport: reader.viewport.value, fit, zoom })
  const { edge } = reader.jump.value
  // Neighbours are prepared at their beginning: the previous one too, which is read from there after a jump.
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
  return h(
    'div',
    {
      class: 'reader-scroller',
      ref: scroller,
      tabIndex: isCurrent ? 0 : -1,
      role: 'group',
      'data-spread': numbers.join('-'),
    },
    h(
      'div',
      { class: `reader-spread${direction === 'rtl' ? ' rtl' : ''}` },
      pages.map((page, i) => h(PageFigure, { reader, page, size: sizes[i]!, key: page.number })),
    ),
  )
}

/** Requests the current spread, its neighbours and the next ones at the size of the screen. */
function useWantedPages(reader: Reader) {
  const wanted = useComputed(() => {
    const { spreads, spreadIndex, pages, settings, viewport, zoom } = reader
    const current = spreadIndex.value
    const indexes = [current, current + 1, current - 1]
    for (let i = 2; i <= preloadedAhead; i++) indexes.push(current + i)
    for (let i = 2; i <= preloadedBehind; i++) indexes.push(current - i)
    return indexes.flatMap(index => {
      const spread = (spreads.value[index] ?? []).map(number => pages.value[number - 1] as PageInfo)
      const sizes = sizesOf(spread, {
        viewport: viewport.value,
        fit: settings.value.fit,
        zoom: index === current ? zoom.value : 1,
      })
      return spread.map((page, i) => ({ page, width: sizes[i]!.width }))
    })
  })
  const list = wanted.value
  useEffect(() => {
    if (reader.zoom.peek() === 1) {
      reader.images.want(list)
      return
    }
    // Not at every step of a pinch.
    const timer = setTimeout(() => reader.images.want(list), zoomPauseMs)
    return () => clearTimeout(timer)
  }, [list])
}
