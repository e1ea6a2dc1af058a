// Reading state of one book while writes are applied to it: changed entries, the position, and whether its
// passes must be folded again.
import type { LockedBook } from '../catalog/row-locks.ts'
import type { ReadingDevice } from './device.ts'
import type { Entry, StoredLocator, Surface } from './entry.ts'
import { inferTime, isMeasured, isNear, mergePosition } from './merge.ts'
import type { Pass } from './passes.ts'
import { type Position, type PositionUpdate, resolvePosition } from './position.ts'
import type { StoredProgress, StoredReading } from './progress-rows.ts'

/** A write before its time and position are resolved. Times in ms since 1970 by the client's clock. */
export type NewEntry = {
  id: string
  bookId: string
  kind: 'progress' | 'reset'
  surface: Surface
  device: ReadingDevice
  /** Null for a single position. */
  startedAt: number | null
  /** Null for now. */
  endedAt: number | null
  precisionMs: number
  isSession: boolean
  /** Null if the write has no position. */
  update: PositionUpdate | null
  onlyForward: boolean
  measuredMs: number | null
  pagesRead: number | null
  locator: StoredLocator | null
}

/** How the position changes: `locator` is the new one, or null; undefined retains the `previous` position's. */
export type PositionChange = {
  locator: StoredLocator | null | undefined
  /** Id of the write that set it. */
  previous: string | null
}

export type BookReading = {
  book: LockedBook
  progress: StoredProgress | null
  /** The entries near the writes, by id. */
  entries: Map<string, Entry>
  /** The newest position or reset. */
  newest: { at: number; id: string } | null
  /** Whether nothing was read yet. */
  isEmpty: boolean
  changed: Map<string, Entry>
  deleted: Set<string>
  /** Null if the position has not changed. */
  change: PositionChange | null
  /** Passes completed by the newest writes. */
  completed: Pass[]
  /** Set if the passes must be folded again from the entries, starting at this time. */
  foldFrom: number | null
}

type Loaded = StoredReading & { book: LockedBook; entries: readonly Entry[] }

export function readingOf({ book, entries, progress, reset, hasEntries }: Loaded): BookReading {
  return {
    ...{ book, progress, isEmpty: !hasEntries },
    entries: new Map(entries.map(entry => [entry.id, entry])),
    newest: progress ? { at: progress.updatedAt, id: progress.positionId ?? '' } : reset,
    ...{ changed: new Map(), deleted: new Set(), change: null, completed: [], foldFrom: null },
  }
}

/** Applies a write. Returns whether it is the newest, so that it sets the position. */
export function addWrite(
  reading: BookReading,
  write: NewEntry,
  { device, now }: { device: number; now: number },
): boolean {
  const { newest } = reading
  const { startedAt, endedAt } = timesOf(write, newest?.at ?? null, now)
  const isLatest = !newest || endedAt > newest.at || (endedAt === newest.at && write.id > newest.id)
  const position = write.kind === 'reset' ? null : positionOf(write, reading)
  const entry = storeEntry(reading, toEntry(write, { device, startedAt, endedAt, position }))
  const isNewest = isLatest && (write.kind === 'reset' || position !== null)
  const pass = passAfter(reading, entry, { isNewest, position, at: endedAt, from: startedAt })
  reading.isEmpty = false
  if (!isNewest) return false
  reading.newest = { at: endedAt, id: write.id }
  movePosition(reading, { position, pass, locator: write.locator })
  return true
}

type PassState = Pick<StoredProgress, 'startedAt' | 'finishedAt'>
type Move = {
  position: ResolvedPosition | null
  pass: PassState | null
  locator: StoredLocator | null
}

function movePosition(reading: BookReading, { position, pass, locator }: Move) {
  const { progress, newest } = reading
  if (position === null) {
    if (progress) reading.change = { locator: null, previous: null }
    reading.progress = null
    return
  }
  const { page, percentage, isCompleted, isUnchanged } = position
  reading.progress = {
    ...{ page, percentage, isCompleted, updatedAt: newest!.at, positionId: newest!.id },
    startedAt: pass?.startedAt ?? newest!.at,
    finishedAt: pass?.finishedAt ?? null,
  }
  reading.change = {
    locator: isUnchanged ? undefined : locator,
    previous: progress?.positionId ?? null,
  }
}

type Applied = { isNewest: boolean; position: Position | null; at: number; from: number }

/** The current pass after a write. If it does not follow from the stored one, the passes are folded again. */
function passAfter(
  reading: BookReading,
  entry: Entry,
  { isNewest, position, at, from }: Applied,
): PassState | null {
  const { progress: pass, isEmpty } = reading
  const fold = () => {
    reading.foldFrom = Math.min(reading.foldFrom ?? entry.startedAt, entry.startedAt)
    return pass
  }
  const complete = (startedAt: number) => {
    reading.completed.push({ startedAt, completedAt: at, device: entry.device })
    return { startedAt, finishedAt: at }
  }
  if (reading.foldFrom !== null || entry.kind === 'reset') return fold()
  if (!pass) {
    if (!isEmpty) return fold()
    if (position === null) return null
    return position.isCompleted ? complete(from) : { startedAt: from, finishedAt: null }
  }
  const { startedAt, finishedAt } = pass
  if (entry.startedAt < startedAt) return fold()
  if (position?.isCompleted) {
    if (finishedAt !== null && at >= finishedAt) return pass
    return isNewest && finishedAt === null ? complete(startedAt) : fold()
  }
  if (!position?.isStart) return pass
  // A late write may be what restarted the book.
  if (!isNewest) return fold()
  return finishedAt === null ? pass : { startedAt: Math.max(from, finishedAt), finishedAt: null }
}

/** Returns the new entry, or the one into which it was merged. */
function storeEntry(reading: BookReading, entry: Entry): Entry {
  if (entry.kind === 'reset') return putEntry(reading, entry)
  const ofDevice = () =>
    [...reading.entries.values()].filter(({ device }) => device === entry.device)
  if (!entry.isSession) {
    const { entry: merged, absorbed } = mergePosition(ofDevice(), entry)
    for (const { id } of absorbed) {
      reading.entries.delete(id)
      reading.changed.delete(id)
      reading.deleted.add(id)
    }
    return putEntry(reading, inferTime(merged, ofDevice()))
  }
  putEntry(reading, entry)
  if (isMeasured(entry))
    for (const other of ofDevice())
      if (!other.isSession && isNear(other, entry)) putEntry(reading, inferTime(other, ofDevice()))
  return entry
}

function putEntry({ entries, changed }: BookReading, entry: Entry): Entry {
  entries.set(entry.id, entry)
  changed.set(entry.id, entry)
  return entry
}

/** A session that ends in the future is moved to end now. Without a client time it is the newest. */
function timesOf(
  { startedAt, endedAt, precisionMs }: NewEntry,
  newest: number | null,
  now: number,
): { startedAt: number; endedAt: number } {
  if (endedAt === null) {
    const at = newest === null ? now : Math.max(now, newest + 1)
    return { startedAt: at, endedAt: at }
  }
  const ahead = Math.max(0, endedAt - now)
  const at = endedAt - ahead
  const isSameTime =
    newest !== null && newest > at && Math.floor(newest / precisionMs) * precisionMs === at
  if (startedAt === null)
    return isSameTime ? { startedAt: newest, endedAt: newest } : { startedAt: at, endedAt: at }
  return { startedAt: startedAt - ahead, endedAt: at }
}

/** `isUnchanged`: it is the stored position, which may only go forward. */
type ResolvedPosition = Position & { isUnchanged: boolean }

function positionOf(
  { update, onlyForward }: NewEntry,
  { book, progress }: Pick<BookReading, 'book' | 'progress'>,
): ResolvedPosition | null {
  if (update === null) return null
  const position = resolvePosition(update, book, progress)
  if (!onlyForward || !progress || (!progress.isCompleted && progress.page < position.page))
    return { ...position, isUnchanged: false }
  const { page, percentage, isCompleted } = progress
  return { page, percentage, isCompleted, isStart: false, isUnchanged: true }
}

type Resolved = {
  device: number
  startedAt: number
  endedAt: number
  position: ResolvedPosition | null
}

function toEntry(write: NewEntry, { device, startedAt, endedAt, position }: Resolved): Entry {
  const { id, bookId, surface, isSession, measuredMs, pagesRead } = write
  const kind = write.kind === 'reset' ? 'reset' : position?.isCompleted ? 'completed' : 'progress'
  return {
    ...{ id, bookId, kind, surface, device, startedAt, endedAt, isSession },
    ...{ measuredMs, pagesRead, inferredMs: null, isPart: false },
    ...{ page: position?.page ?? null, percentage: position?.percentage ?? null },
    restartedAt: position?.isStart ? [endedAt] : [],
    completedAt: position?.isCompleted && !position.isUnchanged ? [endedAt] : [],
  }
}
