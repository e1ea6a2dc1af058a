// Sort orders as document numbers in order, and pages of a bitmap in such an order.
import { type Direction, nearestEnd, type PageWindow } from '../sort.ts'
import { add, type Bitmap, emptyBitmap, has } from './bitmap.ts'

/** Rows without a value are last in both directions. Not all docs, where an order has only those with a value. */
export type SortOrder = {
  docs: Uint32Array<ArrayBuffer>
  /** How many have a value. */
  valued: number
  /** Their ids, of an order that does not depend on the docs themselves. */
  ids?: Buffer
  /** How many docs from the first on have at most a rank, by ascending rank. */
  ranks?: { rank: number; end: number }[]
}

/** Rows of an order from `start` to before `end`, or the other way round; without those of `except`. */
export type Run = {
  docs: Uint32Array
  start: number
  end: number
  isReversed: boolean
  except?: Bitmap
}

export function runsOf({ docs, valued }: SortOrder, direction: Direction): Run[] {
  const isReversed = direction === 'desc'
  return [
    { docs, start: 0, end: valued, isReversed },
    { docs, start: valued, end: docs.length, isReversed },
  ]
}

/** The docs of `first`, which may be few, then all others in their own order. */
export function runsAfter(first: SortOrder, others: SortOrder, direction: Direction): Run[] {
  const except = emptyBitmap(first.docs.reduce((most, row) => Math.max(most, row + 1), 0))
  for (const row of first.docs) add(except, row)
  return [...runsOf(first, direction), ...runsOf(others, 'asc').map(run => ({ ...run, except }))]
}

/** The docs of a page of the bitmap, which has `total`. */
export function pageOfRuns(runs: Run[], bitmap: Bitmap, window: PageWindow): number[] {
  const { skip, take, reversed } = nearestEnd(window)
  const page: number[] = []
  if (take === 0) return page
  let skipped = 0
  for (const run of reversed ? runs.toReversed() : runs) {
    const { docs, start, end, except } = run
    const step = run.isReversed !== reversed ? -1 : 1
    for (let i = step > 0 ? start : end - 1; i >= start && i < end; i += step) {
      const row = docs[i]!
      if (!has(bitmap, row) || (except && has(except, row))) continue
      if (skipped < skip) skipped++
      else if (page.push(row) === take) return reversed ? page.reverse() : page
    }
  }
  return reversed ? page.reverse() : page
}
