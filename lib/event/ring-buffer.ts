// The newest rows in memory, so that clients who keep up cost the database nothing.
import { most, type Page, type Row, type Stream } from './event-rows.ts'

const mostRows = 5_000
const mostBytes = 16 * 1024 * 1024

/** Holds all rows with numbers above `from` up to `tail`, as far back as they fit. */
export function openRing() {
  let rows: Row[] = []
  let bytes = 0
  let from = 0
  let tail = 0

  function trim() {
    let gone = 0
    for (; rows.length - gone > mostRows || bytes > mostBytes; gone++) {
      bytes -= weight(rows[gone]!)
      from = rows[gone]!.number
    }
    if (gone > 0) rows = rows.slice(gone)
  }

  return {
    tail: () => tail,
    /** Begins anew at a position. */
    reset(position: number) {
      rows = []
      bytes = 0
      from = tail = position
    },
    add(newer: readonly Row[], upTo: number) {
      for (const row of newer) {
        rows.push(row)
        bytes += weight(row)
      }
      tail = upTo
      trim()
    },
    /** Rows of a stream after a position; null when some of them are no longer here. */
    after(position: number, stream: Stream): Page | null {
      if (position < from) return null
      const page: Row[] = []
      let upTo = Math.max(position, tail)
      let isFull = false
      let events = 0
      for (let i = firstAfter(rows, position); i < rows.length; i++) {
        const row = rows[i]!
        if (row.stream !== stream) continue
        isFull = page.length === most.rows || events >= most.events
        if (isFull) break
        page.push(row)
        events += row.count
      }
      if (isFull) upTo = page.at(-1)!.number
      return { rows: page, upTo, isFull, isLost: false }
    },
  }
}

function firstAfter(rows: readonly Row[], position: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.number > position) high = middle
    else low = middle + 1
  }
  return low
}

// Roughly: a uuid as a string takes 56 bytes and its place 8.
function weight({ seriesIds, bookIds, data, audience, count }: Row): number {
  const ids = (seriesIds?.length ?? 0) + (bookIds?.length ?? 0)
  return 500 + 64 * ids + (data ? 2_000 : 0) + (audience ? 100 * count : 0)
}
