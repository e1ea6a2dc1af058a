// State of the reader: settings, current page, zoom, open panels.
import { batch, computed, signal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { type Bookmark, createBookmarks } from '../reading/bookmarks.ts'
import type { Movement } from '../reading/recorder.ts'
import { createPageImages } from './page-images.ts'
import { firstOfPairs, type PageInfo, type Size, spreadsOf } from './page-layout.ts'
import { createPageTexts, type TextHit } from './page-text.ts'
import {
  type ReaderSettings,
  settingsFor,
  shiftedPages,
  storeForSeries,
  storeShiftedPages,
} from './settings.ts'

/** A page number, or the card before the first or after the last page. */
type Position = number | 'start' | 'end'
/** Initial scroll position of a page: its start, or its end when reading backward. */
type Edge = 'beginning' | 'end'
type Jump = { page: number; edge: Edge }
/** A page to open, and whether reading continues there. */
export type Start = { page: number; movement: 'opened' | 'jumped' }
/** Window coordinates in CSS pixels. */
export type Point = { x: number; y: number }
/** A point of the window, and its relative position in the spread from 0 to 1. */
export type ZoomFocus = Point & { u: number; v: number }
type Panel = 'none' | 'settings' | 'help' | 'contents' | 'bookmarks' | 'search'
export type Reader = ReturnType<typeof createReader>

export const maxZoom = 6

type ReaderOptions = {
  book: Schemas['Book']
  pages: readonly PageInfo[]
  start: Start
  /** Whether there is a book before this one. */
  hasPrevious: () => boolean
}

export function createReader({ book, pages: known, start, hasPrevious }: ReaderOptions) {
  const { change: changeSettings, measure, ...arrangement } = createArrangement(book, known)
  const zoom = signal(1)
  const zoomFocus = signal<ZoomFocus | null>(null)
  const place = createPlace({
    ...{ arrangement, start, hasPrevious, count: known.length },
    onGo() {
      zoomFocus.value = null
      if (arrangement.layout.value !== 'strip') zoom.value = 1
    },
  })
  /** Numbers of the shown pages. */
  const shownPages = (): readonly number[] =>
    arrangement.layout.value === 'strip'
      ? [place.page.value]
      : (arrangement.spreads.value[place.spreadIndex.value]?.pages ?? [place.page.value])
  return {
    book,
    ...arrangement,
    ...place,
    shownPages,
    bookmarks: createBookmarks(book.id, () => bookmarkPlace(book, known, shownPages())),
    zoom,
    /** Where the zoom was last changed. */
    zoomFocus,
    images: createPageImages(book.id, measure),
    /** Whether pages have text above their images. */
    hasText: book.fileFormat === 'pdf',
    texts: createPageTexts(book.id),
    /** The match of a search that was opened last. */
    found: signal<TextHit | null>(null),
    isMenuShown: signal(true),
    areThumbnailsShown: signal(false),
    panel: signal<Panel>('none'),
    /** Whether reading is not recorded. */
    isIncognito: signal(false),
    shiftPairs: () => arrangement.shiftPairs(place.page.value),
    rotate(by: 1 | -1) {
      zoom.value = 1
      arrangement.rotation.value = (arrangement.rotation.value + by + 4) % 4
    },
    /** Changes settings, stored for the series. */
    change(changes: Partial<ReaderSettings>) {
      zoom.value = 1
      changeSettings(changes)
    },
  }
}

function bookmarkPlace(
  { id }: Schemas['Book'],
  pages: readonly PageInfo[],
  shown: readonly number[],
) {
  const position = shown[0]!
  const totalProgression = (position - 1) / pages.length
  return {
    locator: {
      href: `/books/${id}/pages/${position}`,
      type: `image/${pages[position - 1]!.format}`,
      locations: { position, totalProgression },
    },
    isShown: (bookmark: Bookmark) => shown.includes(bookmarkedPage(bookmark, pages.length)),
  }
}

/** The page of a bookmark of any app. A file that was replaced may have fewer pages. */
export function bookmarkedPage({ locator }: Bookmark, count: number): number {
  const { position, totalProgression } = locator?.locations ?? {}
  const inAddress = /\/pages\/(\d+)/.exec(locator?.href ?? '')?.[1]
  const page = position ?? (inAddress ? Number(inAddress) : (totalProgression ?? 0) * count + 1)
  return Math.min(count, Math.max(1, Math.floor(page)))
}

type PlaceOptions = {
  arrangement: Pick<ReturnType<typeof createArrangement>, 'layout' | 'spreads' | 'indexOf'>
  start: Start
  count: number
  hasPrevious: () => boolean
  onGo: () => void
}

/** Current place, how it was reached, and navigation. */
function createPlace({ arrangement, start, count, hasPrevious, onGo }: PlaceOptions) {
  const { layout, spreads, indexOf } = arrangement
  const place = signal<Position>(start.page)
  const page = signal(start.page)
  const movement = signal<Movement>(start.movement)
  const isSecondHalf = signal(false)
  const jump = signal<Jump>({ page: start.page, edge: 'beginning' })
  const spreadIndex = computed(() => {
    const index = indexOf(page.value)
    return isSecondHalf.value && spreads.value[index]?.half ? index + 1 : index
  })
  const isAtEnd = signal(false)
  const isLastShown = computed(() =>
    layout.value === 'strip'
      ? isAtEnd.value && page.value === count
      : spreadIndex.value === spreads.value.length - 1,
  )

  /** Shows a page. Going to an adjacent page counts as turning. */
  function go(number: number, { edge = 'beginning' }: { edge?: Edge } = {}) {
    batch(() => {
      const next = Math.min(count, Math.max(1, Math.round(number)))
      const distance = Math.abs(indexOf(next) - spreadIndex.value)
      if (distance > 0) movement.value = distance === 1 ? 'turned' : 'jumped'
      page.value = next
      isSecondHalf.value = false
      place.value = next
      jump.value = { page: next, edge }
      onGo()
    })
  }
  /** Reading continues from the last page, if it is shown, however it was reached. */
  function finish() {
    if (isLastShown.value) movement.value = 'turned'
  }
  /** The next or previous spread, or a card beyond the last or first one. */
  function step(by: 1 | -1, options: { edge?: Edge } = {}) {
    // In a strip these are below and above the pages.
    if (layout.value !== 'strip' && (place.value === 'end' || place.value === 'start')) {
      if ((place.value === 'end') === by < 0) place.value = page.value
      return
    }
    const index = spreadIndex.value + by
    const number = spreads.value[index]?.pages[0]
    if (number !== undefined)
      batch(() => {
        go(number, options)
        movement.value = 'turned'
        isSecondHalf.value = spreads.value[index - 1]?.pages[0] === number
      })
    else if (by > 0) {
      finish()
      place.value = 'end'
    } else if (hasPrevious()) place.value = 'start'
  }
  return {
    count,
    spreadIndex,
    /** The current page: the first one of the spread. */
    page,
    place,
    /** How the current page was reached. */
    movement,
    jump,
    /** Whether the end of the last page is shown, in a strip. */
    isAtEnd,
    /** Whether the end of the book is shown. */
    isLastShown,
    go,
    step,
    finish,
  }
}

const landscapeRatio = 1.2
const initialViewport: Size = { width: innerWidth, height: innerHeight }

/** Which pages are shown together, by settings, rotation and shifts. */
function createArrangement(book: Schemas['Book'], known: readonly PageInfo[]) {
  const originals = signal(known)
  const settings = signal(settingsFor(book, known))
  const viewport = signal(initialViewport)
  const rotation = signal(0)
  const shifted = signal(shiftedPages(book.id))
  const pages = computed(() =>
    rotation.value % 2 === 0
      ? originals.value
      : originals.value.map(page => ({ ...page, width: page.height, height: page.width })),
  )
  const layout = computed(() => {
    const { mode } = settings.value
    if (mode !== 'auto') return mode
    const { width, height } = viewport.value
    return width > height * landscapeRatio ? 'double' : 'single'
  })
  const spreads = computed(() => {
    const { isCoverAlone, isSplit, direction } = settings.value
    return spreadsOf(pages.value, {
      ...{ isCoverAlone, direction, shifted: shifted.value },
      isDouble: layout.value === 'double',
      // Rotated pages and strips show whole pages.
      isSplit: isSplit && rotation.value === 0 && layout.value !== 'strip',
    })
  })
  const firstIndexes = computed(() => {
    const indexes = new Map<number, number>()
    for (const [i, spread] of spreads.value.entries())
      for (const number of spread.pages) if (!indexes.has(number)) indexes.set(number, i)
    return indexes
  })
  function change(changes: Partial<ReaderSettings>) {
    settings.value = { ...settings.value, ...changes }
    storeForSeries(book, changes)
  }
  return {
    /** Pages as in the file. */
    originals,
    /** Pages as shown, with their dimensions after rotation. */
    pages,
    settings,
    viewport,
    /** Clockwise, in steps of 90 degrees. */
    rotation,
    layout,
    spreads,
    /** Index of the first spread with a page. */
    indexOf: (page: number): number => firstIndexes.value.get(page) ?? 0,
    change,
    /** Sets unknown page dimensions from the image. */
    measure(number: number, { width, height }: Size) {
      const index = number - 1
      const page = originals.value[index]
      if (!page || (page.width && page.height) || !width || !height) return
      originals.value = originals.value.with(index, { ...page, width, height })
    },
    /** Shifts the pairs around a page, for scans with a missing page. */
    shiftPairs(page: number) {
      const first = firstOfPairs(pages.value, page)
      if (first === 1) return change({ isCoverAlone: !settings.value.isCoverAlone })
      const others = shifted.value.filter(number => number !== first)
      shifted.value = others.length < shifted.value.length ? others : [...others, first]
      storeShiftedPages(book.id, shifted.value)
    },
  }
}
