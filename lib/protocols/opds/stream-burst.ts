// Reading position inferred from the pages that an app fetches. Apps prefetch: several pages when a book is
// opened or after a jump, then one per page turn, always the same distance ahead of the reader. Fetches in
// quick succession form a burst; the width of bursts shows how far the app prefetches. When in doubt, the lower
// page is assumed, because the next fetch corrects it.

/** Pages are 0-based. */
export type BurstState = {
  /** Lowest and highest page of the current burst. */
  low: number
  high: number
  /** Whether the burst has not been evaluated since its last page. */
  isOpen: boolean
  /** Whether the burst started after a long pause. */
  isLate: boolean
  /** Highest page of the previous burst; null when there was none. */
  end: number | null
  /** Largest prefetch distance before this burst. */
  lead: number
}

type Fetch = {
  page: number
  /** From the end of the last response to this request; negative if they overlapped. */
  quietMs: number
}

/** Fetches within this time belong to one burst, because no reader is that fast. */
export const burstMs = 1_000
const sessionMs = 600_000

export const startBurst = (page: number): BurstState => ({
  low: page,
  high: page,
  isOpen: true,
  isLate: false,
  end: null,
  lead: 0,
})

/** The state after a fetch. Pages of a burst may arrive in any order. */
export function addFetch(state: BurstState, { page, quietMs }: Fetch): BurstState {
  if (quietMs < burstMs) {
    const { low, high } = state
    return { ...state, low: Math.min(low, page), high: Math.max(high, page), isOpen: true }
  }
  const isLate = quietMs > sessionMs
  return { ...startBurst(page), isLate, end: state.high, lead: leadAfter(state) }
}

/**
 * The 1-based page that the reader is on after a burst; null when it is unknown. The last page counts only for
 * an app that does not prefetch, and only after other pages.
 */
export function inferPage(state: BurstState, pageCount: number): number | null {
  const { low, high } = state
  const lead = leadBefore(state)
  const page = Math.max(0, low - distanceBehind(state)) + 1
  const isSingleTurn = hasHistory(state) && low === high && lead === 0
  const inferred = Math.min(page, isSingleTurn ? pageCount : pageCount - 1)
  return inferred > 0 ? inferred : null
}

/** How far the reader is behind the lowest page of a burst. */
function distanceBehind(state: BurstState): number {
  const lead = leadBefore(state)
  // After a jump, the app fetches its full distance, except pages that it has cached or that do not exist.
  return isContinuation(state) ? lead : Math.max(0, lead - (state.high - state.low))
}

const isContinuation = ({ low, end }: BurstState) => end !== null && low === end + 1

/** Whether earlier bursts count: after a long pause, only if reading continues where it stopped. */
const hasHistory = (state: BurstState) =>
  state.end !== null && (!state.isLate || isContinuation(state))

const leadBefore = (state: BurstState) => (hasHistory(state) ? state.lead : 0)

const leadAfter = (state: BurstState) => Math.max(leadBefore(state), state.high - state.low)
