// State of the reader: settings, current page, zoom and what is shown above the pages.
import { batch, computed, signal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { createArrangement } from './arrangement.ts'
import { createPageImages } from './page-images.ts'
import type { PageInfo } from './page-layout.ts'
import type { ReaderSettings } from './settings.ts'

/** A page number, or what is before the first and after the last page. */
export type Position = number | 'start' | 'end'
/** Where a page is shown first: at its beginning, or at its end when reading backwards. */
export type Edge = 'beginning' | 'end'
export type Jump = { page: number; edge: Edge; isSmooth: boolean }
/** In CSS pixels of the window. */
export type Point = { x: number; y: number }
/** A point of the window, and the part of the spread at it from 0 to 1. */
export type ZoomFocus = Point & { u: number; v: number }
export type Panel = 'none' | 'settings' | 'help'
export type Reader = ReturnType<typeof createReader>

export const maxZoom = 6

type ReaderOptions = {
  book: Schemas['Book']
  pages: readonly PageInfo[]
  startPage: number
  /** Whether there is a book before this one. */
  hasPrevious: () => boolean
}

export function createReader({ book, pages: known, startPage, hasPrevious }: ReaderOptions) {
  const {
    change: changeSettings,
    measure,
    indexOf,
    ...arrangement
  } = createArrangement(book, known)
  const { layout, spreads, rotation } = arrangement
  const place = signal<Position>(startPage)
  const page = signal(startPage)
  const isSecondHalf = signal(false)
  const jump = signal<Jump>({ page: startPage, edge: 'beginning', isSmooth: false })
  const zoom = signal(1)
  const zoomFocus = signal<ZoomFocus | null>(null)
  const spreadIndex = computed(() => {
    const index = indexOf(page.value)
    return isSecondHalf.value && spreads.value[index]?.half ? index + 1 : index
  })
  const count = known.length

  /** Shows a page at once, or scrolls to it. */
  function go(number: number, { edge = 'beginning', isSmooth = false }: Partial<Jump> = {}) {
    page.value = Math.min(count, Math.max(1, Math.round(number)))
    isSecondHalf.value = false
    place.value = page.value
    zoomFocus.value = null
    if (layout.value !== 'strip') zoom.value = 1
    jump.value = { page: page.value, edge, isSmooth }
  }
  /** The next or previous spread, or what is beyond the last and first one. */
  function step(by: 1 | -1, options: Partial<Jump> = {}) {
    if (place.value === 'end' || place.value === 'start') {
      if ((place.value === 'end') === by < 0) place.value = page.value
      return
    }
    const index = spreadIndex.value + by
    const number = spreads.value[index]?.pages[0]
    if (number !== undefined)
      batch(() => {
        go(number, options)
        isSecondHalf.value = spreads.value[index - 1]?.pages[0] === number
      })
    else if (by > 0) place.value = 'end'
    else if (hasPrevious()) place.value = 'start'
  }
  return {
    book,
    count,
    ...arrangement,
    spreadIndex,
    /** The current page; the first one of a spread. */
    page,
    place,
    jump,
    zoom,
    /** Of the last change of the zoom. */
    zoomFocus,
    images: createPageImages(book.id, measure),
    isMenuShown: signal(true),
    areThumbnailsShown: signal(false),
    panel: signal<Panel>('none'),
    /** Reading is not recorded. */
    isIncognito: signal(false),
    /** Whether the end of the last page is shown. */
    isAtEnd: signal(false),
    go,
    step,
    shiftPairs: () => arrangement.shiftPairs(page.value),
    rotate(by: 1 | -1) {
      zoom.value = 1
      rotation.value = (rotation.value + by + 4) % 4
    },
    /** Stored for the series. */
    change(changes: Partial<ReaderSettings>) {
      zoom.value = 1
      changeSettings(changes)
    },
  }
}
