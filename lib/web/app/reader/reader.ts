// State of the reader: settings, current page, zoom and what is shown above the pages.
import { computed, signal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { createPageImages } from './page-images.ts'
import { isStrip, type PageInfo, type Size, spreadsOf } from './page-layout.ts'
import { type ReaderSettings, settingsFor, storeForSeries } from './settings.ts'

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
const landscapeRatio = 1.2
const initialViewport: Size = { width: innerWidth, height: innerHeight }

type ReaderOptions = {
  book: Schemas['Book']
  pages: readonly PageInfo[]
  startPage: number
  /** Whether there is a book before this one. */
  hasPrevious: () => boolean
}

export function createReader({ book, pages: known, startPage, hasPrevious }: ReaderOptions) {
  const pages = signal(known)
  const settings = signal(settingsFor(book, known))
  const viewport = signal(initialViewport)
  const place = signal<Position>(startPage)
  const page = signal(startPage)
  const jump = signal<Jump>({ page: startPage, edge: 'beginning', isSmooth: false })
  const zoom = signal(1)
  const zoomFocus = signal<ZoomFocus | null>(null)
  const layout = computed(() => {
    const { mode } = settings.value
    if (mode !== 'auto') return mode
    const { width, height } = viewport.value
    return width > height * landscapeRatio ? 'double' : 'single'
  })
  const spreads = computed(() =>
    spreadsOf(pages.value, {
      isDouble: layout.value === 'double',
      isCoverAlone: settings.value.isCoverAlone,
    }),
  )
  const spreadIndexes = computed(
    () => new Map(spreads.value.flatMap((spread, i) => spread.map(number => [number, i] as const))),
  )
  const spreadIndex = computed(() => spreadIndexes.value.get(page.value) ?? 0)
  const count = known.length

  /** Shows a page at once, or scrolls to it. */
  function go(number: number, { edge = 'beginning', isSmooth = false }: Partial<Jump> = {}) {
    page.value = Math.min(count, Math.max(1, Math.round(number)))
    place.value = page.value
    zoomFocus.value = null
    if (layout.value !== 'strip') zoom.value = 1
    jump.value = { page: page.value, edge, isSmooth }
  }
  /** The next or previous spread, or what is beyond the last and first one. */
  function step(by: 1 | -1, options: Partial<Jump> = {}) {
    if (place.value === 'end' || place.value === 'start') {
      if ((place.value === 'end') === by < 0) go(page.value, options)
      return
    }
    const next = spreads.value[spreadIndex.value + by]
    if (next) go(next[0]!, options)
    else if (by > 0) place.value = 'end'
    else if (hasPrevious()) place.value = 'start'
  }
  /** Pages whose dimensions were unknown have those of their image. */
  function measure(number: number, { naturalWidth: width, naturalHeight: height }: Measured) {
    const index = number - 1
    const measured = pages.value[index]
    if (!measured || (measured.width && measured.height) || !width || !height) return
    pages.value = pages.value.with(index, { ...measured, width, height })
  }
  function change(changes: Partial<ReaderSettings>, { isStored = true } = {}) {
    settings.value = { ...settings.value, ...changes }
    zoom.value = 1
    if (isStored) storeForSeries(book, changes)
  }
  return {
    book,
    count,
    pages,
    settings,
    viewport,
    layout,
    spreads,
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
    isStripByPages: isStrip(known),
    go,
    step,
    change,
  }
}

type Measured = { naturalWidth: number; naturalHeight: number }
