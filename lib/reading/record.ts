// Writing to the reading ledger: every surface records reading through `recordReading` and `recordSessions`;
// position, passes and counters follow in the same transaction.
import type { Viewer } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type LockedBook, lockBooksForProgress } from '../catalog/row-locks.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { addWrite, type NewEntry, readingOf } from './book-reading.ts'
import { ensureDevices, knownDevices, type ReadingDevice } from './device.ts'
import type { StoredLocator, Surface } from './entry.ts'
import { nearbyEntries } from './entry-rows.ts'
import { admitEntries } from './limit.ts'
import type { PositionUpdate } from './position.ts'
import type { ProgressRow } from './progress/progress-record.ts'
import { loadProgress } from './progress-rows.ts'
import { storeReadings } from './store-readings.ts'

export type ReadingOrigin = { surface: Surface; device: ReadingDevice }

/** A position without a duration. */
export type ReadingWrite = PositionUpdate & {
  bookId: string
  /** Time of reading by the client's clock; a future time counts as now. Defaults to now, as newer than everything stored. */
  at?: Date | undefined
  /** Precision of `at` in milliseconds, 1 by default: times that are equal within it count as equally new. */
  precisionMs?: number | undefined
  /** Whether the position cannot go back, and a completed book stays completed. */
  onlyForward?: boolean
  locator?: StoredLocator
}

/** A sitting, or a reset, recorded by a client. */
export type SessionWrite = {
  /** Chosen by the client; an id that the account has used before is ignored. */
  id: string
  bookId: string
  device: ReadingDevice
  kind: 'progress' | 'completed' | 'reset'
  startedAt: Date
  endedAt: Date
  /** Null if the client does not know where the session ended. */
  position: PositionUpdate | null
  measuredMs: number | null
  pagesRead: number | null
  locator?: StoredLocator
}

type Options = {
  /** The server time, for tests. */
  now?: Date
}

/**
 * Records a position. `isNewest` is false if something newer is stored: the write is then only history.
 * Returns the progress stored afterwards, null after a newer mark as unread. Throws NotFound for a hidden book.
 */
export async function recordReading(
  sql: Sql,
  viewer: Viewer,
  origin: ReadingOrigin,
  { bookId, at, precisionMs = 1, onlyForward = false, locator, ...update }: ReadingWrite,
  options: Options = {},
): Promise<{ row: ProgressRow | null; isNewest: boolean }> {
  const write: NewEntry = {
    id: newId(),
    ...{ bookId, kind: 'progress', surface: origin.surface, device: origin.device },
    ...{ startedAt: null, endedAt: at?.getTime() ?? null, precisionMs, isSession: false },
    ...{ update, onlyForward, measuredMs: null, pagesRead: null, locator: locator ?? null },
  }
  const { results, progress } = await recordEntries(sql, viewer, [write], options)
  const [result] = results
  if (!result || result === 'excess') throw new NotFound('Book not found')
  return { row: progress[0] ?? null, isNewest: result.isNewest }
}

/**
 * Records sessions. Returns the ids of those whose books are not visible, the ids of those beyond the account's
 * limit, and the progress in the other books.
 */
export async function recordSessions(
  sql: Sql,
  viewer: Viewer,
  sessions: readonly SessionWrite[],
  options: Options = {},
): Promise<{ notFound: Set<string>; excess: Set<string>; progress: ProgressRow[] }> {
  const writes = sessions.map(
    ({ position, startedAt, endedAt, locator, kind, ...session }): NewEntry => ({
      ...session,
      ...{ surface: 'session', precisionMs: 1, isSession: true, onlyForward: false },
      ...{ startedAt: startedAt.getTime(), endedAt: endedAt.getTime() },
      kind: kind === 'reset' ? 'reset' : 'progress',
      update: kind === 'completed' ? { ...position, completed: true } : position,
      locator: locator ?? null,
    }),
  )
  const { results, progress } = await recordEntries(sql, viewer, writes, options)
  const idsWith = (result: Recorded['results'][number]) =>
    new Set(sessions.filter((_, i) => results[i] === result).map(({ id }) => id))
  return { notFound: idsWith(null), excess: idsWith('excess'), progress }
}

type Recorded = {
  /** In the order of the writes; null for a hidden book, `excess` for a session beyond the account's limit. */
  results: ({ isNewest: boolean } | 'excess' | null)[]
  progress: ProgressRow[]
}

async function recordEntries(
  sql: Sql,
  viewer: Viewer,
  writes: readonly NewEntry[],
  { now }: Options,
): Promise<Recorded> {
  if (writes.length === 0) return { results: [], progress: [] }
  const bookIds = [...new Set(writes.map(({ bookId }) => bookId))]
  return await retryOnDeadlock(sql, async tx => {
    const { books, stored, nearby, serverTime, known, devices } = await load(tx, viewer, {
      ...{ writes, bookIds },
      now: now ?? null,
    })
    const readings = new Map(
      books.map(book => {
        const entries = nearby.filter(({ bookId }) => bookId === book.id)
        return [book.id, readingOf({ book, entries, ...stored.get(book.id)! })]
      }),
    )
    const added = writes.filter(({ id, bookId }) => readings.has(bookId) && !known.has(id))
    const takesSessions = await admitEntries(tx, viewer.accountId, {
      added: added.length,
      sessions: added.filter(({ isSession }) => isSession).length,
      books: tx`select unnest(${bookIds}::uuid[]) as id`,
    })
    const results = writes.map(write => {
      const reading = readings.get(write.bookId)
      if (!reading) return null
      if (known.has(write.id)) return { isNewest: false }
      if (write.isSession && !takesSessions(write.bookId)) return 'excess'
      const device = devices.idOf(write.device.key)
      return { isNewest: addWrite(reading, write, { device, now: serverTime }) }
    })
    const progress = await storeReadings(tx, viewer, [...readings.values()])
    return { results, progress }
  })
}

type LoadRequest = { writes: readonly NewEntry[]; bookIds: readonly string[]; now: Date | null }

/** Sends all statements at once; they see what is stored once the lock is held. */
async function load(tx: Transaction, viewer: Viewer, { writes, bookIds, now }: LoadRequest) {
  const { accountId } = viewer
  const owners = writes.map(({ device }) => device)
  const sessionIds = writes.filter(({ isSession }) => isSession).map(({ id }) => id)
  // Planning statements for the values of each write would take longer than running them.
  const planning = tx`set local plan_cache_mode = force_generic_plan`.execute()
  const [books, { stored, serverTime, known }, knownOnes, near] = await Promise.all([
    lockBooksForProgress(tx, viewer, bookIds),
    loadProgress(tx, accountId, { bookIds, sessionIds }),
    knownDevices(tx, accountId, owners),
    nearbyEntries(tx, accountId, { writes: surroundingsOf(writes), now }),
    planning,
  ])
  if (books.length === 0)
    return { books: [] as LockedBook[], stored, nearby: [], serverTime, known, devices: noDevices }
  const devices = await ensureDevices(tx, accountId, { devices: owners, known: knownOnes })
  const moved = writes
    .map(write => ({ ...write, device: { key: devices.keyOf(write.device.key), name: null } }))
    .filter((write, i) => write.device.key !== owners[i]!.key)
  const nearby =
    moved.length === 0
      ? near
      : [...near, ...(await nearbyEntries(tx, accountId, { writes: surroundingsOf(moved), now }))]
  const time = now?.getTime() ?? serverTime
  return { books, stored, nearby, serverTime: time, known, devices }
}

const noDevices = { idOf: () => 0, keyOf: (key: string) => key }

function surroundingsOf(writes: readonly NewEntry[]) {
  return writes
    .filter(({ kind }) => kind !== 'reset')
    .map(({ bookId, device, startedAt, endedAt }) => ({
      ...{ bookId, device: device.key },
      endedAt: endedAt === null ? null : new Date(endedAt),
      startedAt: startedAt === null ? null : new Date(startedAt),
    }))
}
