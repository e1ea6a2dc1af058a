// Windowed grid: only visible cells exist, for lists of any length; it scrolls with the page.
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { observeSize } from '../ui/layout.ts'
import {
  type GridLayout,
  type GridShape,
  layoutOf,
  movedIndex,
  type Range,
  visibleRange,
} from './grid-layout.ts'
import type { PagedList } from './paged-list.ts'

export type GridHandle = {
  /** Scrolls to a row of the list. */
  scrollTo: (index: number) => void
}

type VirtualGridProps<T> = {
  list: PagedList<T>
  /** Name of the list for screen readers. */
  label: string
  shape: GridShape
  /** Renders a cell, whose link and buttons get the tab index; the row is undefined while loading. */
  renderItem: (row: T | undefined, tabIndex: number, index: number) => VNode
  /** Other dependencies of `renderItem`. */
  dependency?: unknown
  handle?: { current: GridHandle | null }
}

export function VirtualGrid<T>(props: VirtualGridProps<T>) {
  const { list, label, shape, handle } = props
  const root = useRef<HTMLUListElement>(null)
  const total = list.total.value ?? 0
  const { layout, range, isPassing } = useWindow(root, { shape, total })
  // The focused cell stays rendered.
  const [focused, setFocused] = useState<number | null>(null)
  // The cell to focus as soon as its row is loaded.
  const wanted = useRef<number | null>(null)
  const version = list.version.value
  useEffect(() => {
    if (layout) list.show(range.first, range.last)
  }, [list, layout, range.first, range.last, version])
  // Scroll target once the list is loaded.
  const awaited = useRef<number | null>(null)
  useLayoutEffect(() => {
    const scrollTo = (index: number) => {
      const isThere = root.current !== null && layout !== null && total > 0
      awaited.current = isThere ? null : index
      if (isThere) scrollToCell(root.current!, layout, index)
    }
    if (handle) handle.current = { scrollTo }
    if (awaited.current !== null) scrollTo(awaited.current)
  }, [layout, total])
  useLayoutEffect(() => {
    if (wanted.current === null || !root.current) return
    const link = root.current.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`)
    ;(link ?? root.current).focus({ preventScroll: true })
    if (link) wanted.current = null
  })
  const cellOf = useCells(props, { focused, isPassing })
  const focus = (index: number) => {
    setFocused(index)
    wanted.current = index
    if (root.current && layout) scrollIntoView(root.current, layout, index)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const index = cellIndex(event.target as Element)
    if (index === null) return
    const isReversed = document.documentElement.dir === 'rtl'
    const next = movedIndex(event.key, { index, total, columns: layout.columns, isReversed })
    if (next === null) return
    event.preventDefault()
    focus(next)
  }
  const indexes = layout && total > 0 ? indexesOf(range, { focused, total }) : []
  return (
    <ul
      class="lists-window"
      ref={root}
      tabIndex={-1}
      aria-label={label}
      aria-busy={list.total.value === null}
      style={{ height: `${layout ? Math.ceil(total / layout.columns) * layout.rowHeight : 0}px` }}
      onKeyDown={onKeyDown}
      onFocusIn={(event: FocusEvent) => {
        const index = cellIndex(event.target as Element)
        if (index !== null) setFocused(index)
      }}
      onFocusOut={(event: FocusEvent) => {
        if (wanted.current === null && !root.current?.contains(event.relatedTarget as Node | null))
          setFocused(null)
      }}
    >
      {layout && indexes.map(index => cellOf(index, layout, total))}
    </ul>
  )
}

const cellIndex = (element: Element): number | null => {
  const index = element.closest<HTMLElement>('.lists-cell')?.dataset.index
  return index === undefined ? null : Number(index)
}

function indexesOf(
  { first, last }: Range,
  { focused, total }: { focused: number | null; total: number },
): number[] {
  const end = Math.min(last, total - 1)
  const indexes = Array.from({ length: Math.max(0, end - first + 1) }, (_, i) => first + i)
  if (focused === null || focused >= total) return indexes
  if (focused < first) indexes.unshift(focused)
  else if (focused > end) indexes.push(focused)
  return indexes
}

/** Scrolling faster than this fraction of the window per frame leaves cells blank. */
const passingPart = 0.4
const restMs = 100

/** The cells to render, from the width and position of the list. */
function useWindow(
  root: { current: HTMLElement | null },
  { shape, total }: { shape: GridShape; total: number },
) {
  const [layout, setLayout] = useState<GridLayout | null>(null)
  const [range, setRange] = useState({ first: 0, last: -1 })
  // Dragging the scrollbar passes thousands of cells, which would be created and discarded each frame.
  const [isPassing, setPassing] = useState(false)
  useLayoutEffect(() => {
    const measure = () => {
      const next = layoutOf(root.current!.clientWidth, shape)
      setLayout(known => (known && isSameLayout(known, next) ? known : next))
    }
    measure()
    return observeSize(root.current!, measure)
  }, [shape])
  useLayoutEffect(() => {
    if (!layout) return
    let frame = 0
    let latest: number | null = null
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = () => {
      frame = 0
      const top = -root.current!.getBoundingClientRect().top
      if (latest !== null && Math.abs(top - latest) > innerHeight * passingPart) {
        setPassing(true)
        clearTimeout(timer)
        timer = setTimeout(() => setPassing(false), restMs)
      }
      latest = top
      const next = visibleRange(layout, { top, height: innerHeight, total })
      setRange(known => (known.first === next.first && known.last === next.last ? known : next))
    }
    const schedule = () => {
      frame ||= requestAnimationFrame(update)
    }
    update()
    addEventListener('scroll', schedule, { passive: true })
    addEventListener('resize', schedule)
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      setPassing(false)
      removeEventListener('scroll', schedule)
      removeEventListener('resize', schedule)
    }
  }, [layout, total])
  return { layout, range, isPassing }
}

const isSameLayout = (a: GridLayout, b: GridLayout) =>
  a.columns === b.columns && a.cellWidth === b.cellWidth && a.rowHeight === b.rowHeight

type Cell<T> = { row: T | undefined; key: string; element: VNode }

/** Unchanged cells keep their elements, which Preact skips. */
function useCells<T>(
  { list, shape, renderItem, dependency }: VirtualGridProps<T>,
  { focused, isPassing }: { focused: number | null; isPassing: boolean },
) {
  const cache = useRef(new Map<number, Cell<T>>())
  const latest = useRef<unknown[]>([])
  const dependencies = [list, dependency, shape]
  if (dependencies.some((value, i) => value !== latest.current[i])) cache.current.clear()
  latest.current = dependencies
  const used = new Map<number, Cell<T>>()
  useLayoutEffect(() => {
    cache.current = used
  })
  return (index: number, layout: GridLayout, total: number): VNode => {
    const { columns, cellWidth, rowHeight } = layout
    const row = list.row(index)
    // Until a cell has focus, Tab reaches all of them; then arrow keys move the focus.
    const tabIndex = focused === null || focused === index ? 0 : -1
    const key = [columns, cellWidth, rowHeight, total, tabIndex].join()
    let cell = cache.current.get(index)
    if (!cell || cell.row !== row || cell.key !== key) {
      if (isPassing) return blankCell(index, cellStyle(index, layout, shape.gap))
      const element = (
        <li
          key={index}
          class="lists-cell"
          data-index={index}
          aria-setsize={total}
          aria-posinset={index + 1}
          style={cellStyle(index, layout, shape.gap)}
        >
          {renderItem(row, tabIndex, index)}
        </li>
      )
      cell = { row, key, element }
    }
    used.set(index, cell)
    return cell.element
  }
}

const cellStyle = (index: number, { columns, cellWidth, rowHeight }: GridLayout, gap: number) => ({
  width: `${cellWidth}px`,
  height: `${rowHeight - gap}px`,
  top: `${Math.floor(index / columns) * rowHeight}px`,
  insetInlineStart: `${(index % columns) * (cellWidth + gap)}px`,
})

/** Placeholder of a cell that is scrolled past. */
const blankCell = (index: number, style: Record<string, string>): VNode => (
  <li key={`blank ${index}`} class="lists-cell blank" style={style} aria-hidden />
)

/** Height covered at the top of the window by the header and the list's toolbar. */
const coveredTop = () => (document.querySelector('.frame-header')?.clientHeight ?? 0) + 64

function scrollToCell(root: HTMLElement, { columns, rowHeight }: GridLayout, index: number) {
  const top = root.getBoundingClientRect().top + scrollY
  scrollTo(0, Math.max(0, top + Math.floor(index / columns) * rowHeight - coveredTop()))
}

function scrollIntoView(root: HTMLElement, layout: GridLayout, index: number) {
  const top =
    root.getBoundingClientRect().top + Math.floor(index / layout.columns) * layout.rowHeight
  if (top < coveredTop()) scrollBy(0, top - coveredTop())
  else if (top + layout.rowHeight > innerHeight - 72)
    scrollBy(0, top + layout.rowHeight - innerHeight + 72)
}
