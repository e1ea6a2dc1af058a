// Where a reader is, told by the pages that an app fetches. Apps fetch ahead: some pages at once when a
// book is opened or jumped into, then as many as are turned, always so far in front of the reader. What
// follows each other closely is one burst; how wide bursts are tells how far ahead the app fetches.
// Doubts are resolved backwards: a place that is too low is mended by the next page.

/** Pages count from 0. */
export type Stream = {
  /** Lowest and highest page of the burst at hand. */
  low: number
  high: number
  /** It was not looked at yet since its last page came. */
  isOpen: boolean
  /** It came after a long pause. */
  isLate: boolean
  /** Highest page of the burst before; null when there was none. */
  end: number | null
  /** How far ahead the app fetched at most before this burst. */
  lead: number
}

type Fetch = {
  page: number
  /** Between the end of the last answer and this request; negative where they overlapped. */
  quietMs: number
}

/** Fetches that come sooner after each other belong together: nobody reads a page in that time. */
export const burstMs = 1_000
const sessionMs = 600_000

export const begun = (page: number): Stream => ({
  low: page,
  high: page,
  isOpen: true,
  isLate: false,
  end: null,
  lead: 0,
})

/** What is known after a fetch. Pages of a burst may come in any order. */
export function fetched(stream: Stream, { page, quietMs }: Fetch): Stream {
  if (quietMs < burstMs) {
    const { low, high } = stream
    return { ...stream, low: Math.min(low, page), high: Math.max(high, page), isOpen: true }
  }
  const isLate = quietMs > sessionMs
  return { ...begun(page), isLate, end: stream.high, lead: leadAfter(stream) }
}

/**
 * The page, from 1, that the reader is on when a burst is over; null when nothing is known. The last page
 * only for an app that does not fetch ahead, and after others.
 */
export function placeOf(stream: Stream, pageCount: number): number | null {
  const { low, high } = stream
  const lead = leadBefore(stream)
  const page = Math.max(0, low - behind(stream)) + 1
  const isTurned = hasPast(stream) && low === high && lead === 0
  const place = Math.min(page, isTurned ? pageCount : pageCount - 1)
  return place > 0 ? place : null
}

/** How far the reader is behind the lowest page of a burst. */
function behind(stream: Stream): number {
  const lead = leadBefore(stream)
  // After a jump as much is fetched as ever, but for what the app still has, or what is not there.
  return continues(stream) ? lead : Math.max(0, lead - (stream.high - stream.low))
}

const continues = ({ low, end }: Stream) => end !== null && low === end + 1

/** Whether what came before counts: after a pause only for who goes on where it ended. */
const hasPast = (stream: Stream) => stream.end !== null && (!stream.isLate || continues(stream))

const leadBefore = (stream: Stream) => (hasPast(stream) ? stream.lead : 0)

const leadAfter = (stream: Stream) => Math.max(leadBefore(stream), stream.high - stream.low)
