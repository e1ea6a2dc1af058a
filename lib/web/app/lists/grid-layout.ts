// Geometry of a windowed grid: sizes of cards and lines, columns, heights, visible rows.

export type GridShape = {
  /** Minimum cell width in pixels; 0 for one column. */
  minCellWidth: number
  gap: number
  /** Height of a cell of a width. */
  cellHeight: (width: number) => number
}

export type GridLayout = { columns: number; cellWidth: number; rowHeight: number }

export function layoutOf(width: number, shape: GridShape): GridLayout {
  const { minCellWidth, gap, cellHeight } = shape
  const columns =
    minCellWidth === 0 ? 1 : Math.max(2, Math.floor((width + gap) / (minCellWidth + gap)))
  const cellWidth = (width - gap * (columns - 1)) / columns
  return { columns, cellWidth, rowHeight: Math.round(cellHeight(cellWidth)) + gap }
}

/** Rows rendered above and below the view, so that fast scrolling shows no gaps. */
const overscanRows = 2

export type Range = { first: number; last: number }

/** Indexes of the cells to render. `top`: pixels of the list above the view, negative if there are none. */
export function visibleRange(
  { columns, rowHeight }: GridLayout,
  { top, height, total }: { top: number; height: number; total: number },
): Range {
  const rows = Math.ceil(total / columns)
  const firstRow = clamp(Math.floor(top / rowHeight) - overscanRows, 0, Math.max(0, rows - 1))
  const lastRow = clamp(Math.ceil((top + height) / rowHeight) + overscanRows, 0, rows)
  return { first: firstRow * columns, last: Math.min(total, lastRow * columns) - 1 }
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(max, value))

type GridPlace = { index: number; total: number; columns: number; isReversed: boolean }

/** The index a key moves to; null for other keys. `isReversed`: right-to-left writing. */
export function movedIndex(key: string, place: GridPlace): number | null {
  const { index, total, columns, isReversed } = place
  const side = isReversed ? -1 : 1
  const steps: Record<string, number> = {
    ArrowLeft: -side,
    ArrowRight: side,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -index,
    End: total - 1 - index,
  }
  const step = steps[key]
  if (step === undefined) return null
  const next = index + step
  if (next >= 0 && next < total) return next
  // The last row may be shorter than the one above.
  return key === 'ArrowDown' && Math.floor(next / columns) <= Math.floor((total - 1) / columns)
    ? total - 1
    : index
}

// Sizes of cards and lines in pixels; keep in sync with lists.css.

/** Title of two lines and a line of details below the cover. */
const cardTextHeight = 64
/** Three columns on the narrowest phones. */
const minCardWidth = innerWidth < 600 ? 100 : 150

export const cardShape: GridShape = {
  minCellWidth: minCardWidth,
  gap: innerWidth < 600 ? 12 : 18,
  cellHeight: width => width * 1.5 + cardTextHeight,
}

export const lineShape: GridShape = { minCellWidth: 0, gap: 0, cellHeight: () => 80 }
