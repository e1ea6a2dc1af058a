// Ring buffer of the newest events, so that clients that keep up need no queries.
import { type EventPage, type EventRow, pageLimits, type Stream } from './event-rows.ts'

const maxRows = 5_000
const maxBytes = 16 * 1024 * 1024

export type RingBuffer = ReturnType<typeof createRingBuffer>

/** Holds all rows with numbers above `start` up to `tail`, as many as fit. */
export function createRingBuffer() {
  let rows: EventRow[] = []
  let bytes = 0
  let start = 0
  let tail = 0

  function evict() {
    let evicted = 0
    for (; rows.length - evicted > maxRows || bytes > maxBytes; evicted++) {
      bytes -= estimateBytes(rows[evicted]!)
      start = rows[evicted]!.number
    }
    if (evicted > 0) rows = rows.slice(evicted)
  }

  return {
    tail: () => tail,
    /** Empties the buffer and restarts it at a position. */
    reset(position: number) {
      rows = []
      bytes = 0
      start = tail = position
    },
    add(newRows: readonly EventRow[], upTo: number) {
      for (const row of newRows) {
        rows.push(row)
        bytes += estimateBytes(row)
      }
      tail = upTo
      evict()
    },
    /** Rows of a stream after a position; null if some of them are no longer in the buffer. */
    after(position: number, stream: Stream): EventPage | null {
      if (position < start) return null
      const page: EventRow[] = []
      let upTo = Math.max(position, tail)
      let isFull = false
      let events = 0
      for (let i = firstIndexAfter(rows, position); i < rows.length; i++) {
        const row = rows[i]!
        if (row.stream !== stream) continue
        isFull = page.length === pageLimits.rows || events >= pageLimits.events
        if (isFull) break
        page.push(row)
        events += row.count
      }
      if (isFull) upTo = page.at(-1)!.number
      return { rows: page, upTo, isFull, isExpired: false }
    },
  }
}

function firstIndexAfter(rows: readonly EventRow[], position: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.number > position) high = middle
    else low = middle + 1
  }
  return low
}

// Rough estimate: a uuid string takes 56 bytes and its array element 8.
function estimateBytes({ seriesIds, bookIds, data, audience, count }: EventRow): number {
  const ids = (seriesIds?.length ?? 0) + (bookIds?.length ?? 0)
  return (
    500 +
    64 * ids +
    (data ? 2_000 : 0) +
    (audience ? 100 * count : 0) +
    (audience?.limited ? 1_000 : 0)
  )
}
