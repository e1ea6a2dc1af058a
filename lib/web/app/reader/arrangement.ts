// Arrangement of pages in the window: which are shown together, by settings, rotation and shifts.
import { computed, signal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { firstOfPairs, type PageInfo, type Size, spreadsOf } from './page-layout.ts'
import {
  type ReaderSettings,
  settingsFor,
  shiftedPages,
  storeForSeries,
  storeShiftedPages,
} from './settings.ts'

const landscapeRatio = 1.2
const initialViewport: Size = { width: innerWidth, height: innerHeight }

export function createArrangement(book: Schemas['Book'], known: readonly PageInfo[]) {
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
