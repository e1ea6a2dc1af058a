// Recording of reading sessions: active time, positions and pages.
import { clockOffset } from '../api/clock.ts'
import { randomUuid, readingDevice } from './device.ts'
import { recordSession, type StoredSession } from './outbox.ts'

/** Place: a page from 1, or a fraction of the book from 0 to 1 with its Readium locator as JSON. */
export type ReadingPosition = Pick<StoredSession, 'toPage' | 'toPercentage' | 'r2Progression'> & {
  /** Whether this is the end of the book. */
  isEnd?: boolean
  /** Numbers of the shown pages, for counting. */
  pages?: readonly number[]
}

/**
 * How a place was reached: by opening the book there, by turning pages or scrolling, or by a jump (a link, the
 * table of contents, a slider). `laidOut`: the same place in a new layout, which may start with other words or show the end.
 */
export type Movement = 'opened' | 'turned' | 'jumped' | 'laidOut'

export type Recorder = ReturnType<typeof createRecorder>

// Longer than a dense page takes; any more counts as absence.
const idleMs = 180_000
// Interval of sending sessions, so that another device can continue here.
const sendMs = 30_000
// A brief look into a book or at another place does not change its position.
const glanceMs = 15_000
// Pages only passed do not count as read.
const passedMs = 500
const timerToleranceMs = 50
// Beyond this the server counts a book as read.
const completedFrom = 0.98

type ShownPosition = { position: ReadingPosition; movement: Movement; activeMs: number }
type Stretch = { startedAt: number; activeMs: number; pages: Set<number> }

/**
 * Records reading of a book until `stop`: the latest place that was read, not only looked at. A book is
 * finished when its end is shown; after a jump, only when reading continues from there.
 */
export function createRecorder({ bookId }: { bookId: string }) {
  let shown: ShownPosition | null = null
  let read: ReadingPosition | null = null
  let sent: ReadingPosition | null = null
  let isStopped = false
  let isVisible = document.visibilityState === 'visible'
  let lastActivity = Date.now()
  let countedUntil = lastActivity
  let stretch = newStretch(lastActivity)
  let endTimer: ReturnType<typeof setTimeout> | undefined

  /** Adds the time until now, except absence. */
  function count(now: number) {
    const until = Math.min(now, lastActivity + idleMs)
    if (isVisible && until > countedUntil) {
      stretch.activeMs += until - countedUntil
      if (shown) shown.activeMs += until - countedUntil
    }
    if (isVisible) countedUntil = now
  }
  /** `isReadOn`: reading continues at the next place. */
  function countShown({ isReadOn = false } = {}) {
    if (!shown) return
    const { position, movement, activeMs } = shown
    if (isRead(shown)) read = position
    if (activeMs < passedMs || (movement === 'jumped' && read !== position && !isReadOn)) return
    for (const page of position.pages ?? []) stretch.pages.add(page)
  }
  /** Activity without a change of position, such as scrolling. */
  function active() {
    const now = Date.now()
    count(now)
    const wasAbsent = now - lastActivity > idleMs
    if (wasAbsent) flush()
    lastActivity = now
    if (wasAbsent) stretch = newStretch(now)
  }
  function moved(next: ReadingPosition, movement: Movement) {
    active()
    if (movement === 'laidOut') {
      if (shown && shown.position.isEnd !== next.isEnd) shown.position = next
    } else {
      countShown({ isReadOn: movement === 'turned' })
      // Unrecorded reading led to the first place.
      const isFirst = shown === null && movement === 'turned'
      shown = { position: next, movement: isFirst ? 'opened' : movement, activeMs: 0 }
      countShown()
    }
    clearTimeout(endTimer)
    if (!shown?.position.isEnd || shown.movement === 'jumped') return
    if (read === shown.position) flush()
    else endTimer = setTimeout(flush, passedMs + timerToleranceMs)
  }
  /** Stores and sends reading since the last call. */
  function flush({ keepalive = false } = {}) {
    const now = Date.now()
    count(now)
    countShown()
    if (read === null || (read === sent && stretch.activeMs < 1_000)) return
    const ended = Math.max(stretch.startedAt, Math.min(now, lastActivity + idleMs))
    void recordSession(sessionOf({ bookId, position: read, stretch, ended }), { keepalive })
    sent = read
    stretch = newStretch(now)
  }
  const stopWatching = watchPage({
    onHidden() {
      flush({ keepalive: true })
      isVisible = document.visibilityState === 'visible'
    },
    onVisible() {
      isVisible = true
      lastActivity = countedUntil = Date.now()
      stretch = newStretch(lastActivity)
    },
  })
  const timer = setInterval(flush, sendMs)
  return {
    active,
    moved,
    stop() {
      if (isStopped) return
      isStopped = true
      flush({ keepalive: true })
      clearInterval(timer)
      clearTimeout(endTimer)
      stopWatching()
    },
  }
}

/** `onHidden` is also called when the page is left. Returns a function that stops it. */
function watchPage({ onHidden, onVisible }: { onHidden: () => void; onVisible: () => void }) {
  const onVisibility = () => (document.visibilityState === 'hidden' ? onHidden() : onVisible())
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('pagehide', onHidden)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    removeEventListener('pagehide', onHidden)
  }
}

function isRead({ position, movement, activeMs }: ShownPosition): boolean {
  if (movement === 'turned') return true
  const { isEnd, toPercentage } = position
  const isFinal = isEnd === true || (toPercentage ?? 0) >= completedFrom
  if (movement === 'jumped') return !isFinal && activeMs >= glanceMs
  return activeMs >= (isEnd ? passedMs : glanceMs)
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
    // The latest position of all devices wins: one with a wrong clock would lose its own or hide the others.
    clientStartedAt: new Date(startedAt + clockOffset()).toISOString(),
    clientEndedAt: new Date(ended + clockOffset()).toISOString(),
  }
}
