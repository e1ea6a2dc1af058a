// Sizes of cards and lines in windowed grids, in pixels; keep in sync with lists.css.
import type { GridShape } from './grid-layout.ts'

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
