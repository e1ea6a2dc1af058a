// Sort orders of rows as their numbers in order, and pages of a bitmap in such an order.
import { nearestEnd, type PageWindow } from '../page.ts'
import type { Direction } from '../sort.ts'
import { add, type Bitmap, emptyBitmap, has } from './bitmap.ts'

/** Rows without a value are last in both directions. Not all rows, where an order has only those with a value. */
export type RowOrder = {
  rows: Uint32Array<ArrayBuffer>
  /** How many have a value. */
  valued: number
  /** Their ids, of an order that does not depend on the rows themselves. */
  ids?: Buffer
  /** How many rows from the first on have at most a rank, by ascending rank. */
  ranks?: { rank: number; end: number }[]
}

/** Rows of an order from `start` to before `end`, or the other way round; without those of `except`. */
export type Run = {
  rows: Uint32Array
  start: number
  end: number
  isReversed: boolean
  except?: Bitmap
}

export function runsOf({ rows, valued }: RowOrder, direction: Direction): Run[] {
  const isReversed = direction === 'desc'
  return [
    { rows, start: 0, end: valued, isReversed },
    { rows, start: valued, end: rows.length, isReversed },
  ]
}

/** The rows of `first`, which may be few, then all others in their own order. */
export function runsAfter(first: RowOrder, others: RowOrder, direction: Direction): Run[] {
  const except = emptyBitmap(first.rows.reduce((most, row) => Math.max(most, row + 1), 0))
  for (const row of first.rows) add(except, row)
  return [...runsOf(first, direction), ...runsOf(others, 'asc').map(run => ({ ...run, except }))]
}

/** The rows of a page of the bitmap, which has `total`. */
export function pageOfRuns(runs: Run[], bitmap: Bitmap, window: PageWindow): number[] {
  const { skip, take, reversed } = nearestEnd(window)
  const page: number[] = []
  if (take === 0) return page
  let skipped = 0
  for (const run of reversed ? runs.toReversed() : runs) {
    const { rows, start, end, except } = run
    const step = run.isReversed !== reversed ? -1 : 1
    for (let i = step > 0 ? start : end - 1; i >= start && i < end; i += step) {
      const row = rows[i]!
      if (!has(bitmap, row) || (except && has(except, row))) continue
      if (skipped < skip) skipped++
      else if (page.push(row) === take) return reversed ? page.reverse() : page
    }
  }
  return reversed ? page.reverse() : page
}
