// Measurement of reading: time while the page is visible and in use, positions and pages, as sessions of the outbox.
import { clockOffset } from '../api/clock.ts'
import { randomUuid, readingDevice } from './device.ts'
import { recordSession, type StoredSession } from './outbox.ts'

/** Where the reader is: a page from 1, or a part of the book from 0 to 1 with its Readium locator as JSON. */
export type ReadingPosition = Pick<StoredSession, 'toPage' | 'toPercentage' | 'r2Progression'> & {
  /** Whether this is the end of the book. */
  isEnd?: boolean
  /** Numbers of the pages that are shown, for counting them. */
  pages?: readonly number[]
}

export type Recorder = ReturnType<typeof createRecorder>

// Longer than a page with much text takes; what comes after is absence.
const idleMs = 180_000
// Sessions are sent this often, so that another device continues where this one is.
const sendMs = 30_000
// Opening a book for a look does not change its position.
const glanceMs = 15_000
// Pages that were only passed are not read.
const passedMs = 500

type Stretch = { startedAt: number; activeMs: number; pages: Set<number> }

/** Records reading of a book until `stop`. Nothing is stored before a page is turned, or read for a while. */
export function createRecorder({ bookId }: { bookId: string }) {
  let position: ReadingPosition | null = null
  let positionAt = 0
  let hasMoved = false
  let isUnsent = false
  let isBegun = false
  let isStopped = false
  let isVisible = document.visibilityState === 'visible'
  let lastActivity = Date.now()
  let countedUntil = lastActivity
  let stretch = newStretch(lastActivity)

  /** Counts the time until now, but for absence. */
  function count(now: number) {
    const until = Math.min(now, lastActivity + idleMs)
    if (isVisible && until > countedUntil) stretch.activeMs += until - countedUntil
    if (isVisible) countedUntil = now
  }
  function countPages(now: number) {
    if (!position?.pages || now - positionAt < passedMs) return
    for (const page of position.pages) stretch.pages.add(page)
  }
  /** The reader does something that is no change of position, such as scrolling. */
  function active() {
    const now = Date.now()
    count(now)
    const wasAbsent = now - lastActivity > idleMs
    if (wasAbsent) flush()
    lastActivity = now
    if (wasAbsent) stretch = newStretch(now)
  }
  function moved(next: ReadingPosition) {
    const now = Date.now()
    active()
    countPages(now)
    if (position !== null) hasMoved = true
    position = next
    positionAt = now
    isUnsent = true
    if (next.isEnd && hasMoved) flush()
  }
  /** Stores and sends what was read since the last time. */
  function flush({ keepalive = false } = {}) {
    const now = Date.now()
    count(now)
    countPages(now)
    isBegun ||= hasMoved || stretch.activeMs >= glanceMs
    if (position === null || !isBegun || (!isUnsent && stretch.activeMs < 1_000)) return
    const ended = Math.max(stretch.startedAt, Math.min(now, lastActivity + idleMs))
    void recordSession(sessionOf({ bookId, position, stretch, ended }), { keepalive })
    isUnsent = false
    stretch = newStretch(now)
  }
  const onVisibility = () => {
    const now = Date.now()
    if (document.visibilityState === 'hidden') {
      flush({ keepalive: true })
      isVisible = false
    } else {
      isVisible = true
      lastActivity = countedUntil = now
      stretch = newStretch(now)
    }
  }
  const onPageHide = () => flush({ keepalive: true })
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('pagehide', onPageHide)
  const timer = setInterval(flush, sendMs)
  return {
    active,
    moved,
    flush,
    /** Whether positions wait to be sent. */
    get isUnsent() {
      return isUnsent && isBegun
    },
    stop() {
      if (isStopped) return
      isStopped = true
      flush({ keepalive: true })
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisibility)
      removeEventListener('pagehide', onPageHide)
    },
  }
}

const newStretch = (now: number): Stretch => ({ startedAt: now, activeMs: 0, pages: new Set() })

function sessionOf({
  bookId,
  position: { isEnd, pages: _, ...place },
  stretch: { startedAt, activeMs, pages },
  ended,
}: {
  bookId: string
  position: ReadingPosition
  stretch: Stretch
  ended: number
}): StoredSession {
  const { id: deviceId, name: deviceName } = readingDevice()
  return {
    id: randomUuid(),
    bookId,
    deviceId,
    deviceName,
    kind: isEnd ? 'completed' : 'progress',
    ...place,
    activeDurationMs: Math.round(activeMs),
    ...(pages.size > 0 && { pagesRead: pages.size }),
    // The latest position counts, of all devices: one with a wrong clock would lose its own, or hide the others.
    clientStartedAt: new Date(startedAt + clockOffset()).toISOString(),
    clientEndedAt: new Date(ended + clockOffset()).toISOString(),
  }
}
