// What must be stored beside the entries of the reading ledger, computed from all of them: sittings, passes and
// position of a book. `doctor` compares it with what is stored, and rebuilds it.
import { refreshAccountReading } from '../catalog/derived/series-reading.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { type Entry, isSitting } from './entry.ts'
import { deleteEntries, entriesSince, storeEntries } from './entry-rows.ts'
import { inferTime, mergePosition } from './merge.ts'
import { foldAgain, passesOf } from './pass-rows.ts'
import { foldPasses, type Pass } from './passes.ts'
import {
  deleteStoredProgress,
  loadProgress,
  type StoredProgress,
  storeProgress,
} from './progress-rows.ts'

/** What is wrong with an account's reading of a book. */
export type ReadingFault = {
  accountId: string
  bookId: string
  kinds: ('sittings' | 'passes' | 'position')[]
}

type Key = { accountId: string; bookId: string }
type Reading = {
  entries: readonly Entry[]
  passes: readonly Pass[]
  progress: StoredProgress | null
  /** False after the book and its position were deleted. */
  exists: boolean
}

const batchSize = 500

/** Compares the stored reading of all accounts with the ledger, in batches of books. */
export async function* readingFaults(sql: Sql): AsyncGenerator<ReadingFault[]> {
  let last: Key = { accountId: zeroId, bookId: zeroId }
  for (;;) {
    const batch = await sql.begin('isolation level repeatable read', async tx => {
      const keys = await nextBooks(tx, last)
      const load = ([accountId, own]: [string, Key[]]) => {
        const bookIds = own.map(({ bookId }) => bookId)
        return loadReadings(tx, accountId, bookIds)
      }
      const byAccount = [...Map.groupBy(keys, ({ accountId }) => accountId)]
      return { keys, readings: await Promise.all(byAccount.map(load)) }
    })
    if (batch.keys.length === 0) return
    last = batch.keys.at(-1)!
    const faults = batch.readings
      .flatMap(({ accountId, readings }) =>
        [...readings].map(([bookId, reading]) => ({ accountId, bookId, kinds: faultsOf(reading) })),
      )
      .filter(({ kinds }) => kinds.length > 0)
    if (faults.length > 0) yield faults
  }
}

const zeroId = '00000000-0000-0000-0000-000000000000'

async function nextBooks(tx: Transaction, { accountId, bookId }: Key): Promise<Key[]> {
  return await tx<Key[]>`
    select account_id as "accountId", book_id as "bookId"
    from reading_session
    where (account_id, book_id) > (${accountId}, ${bookId})
    group by account_id, book_id
    order by account_id, book_id
    limit ${batchSize}`
}

async function loadReadings(tx: Transaction, accountId: string, bookIds: readonly string[]) {
  const books = bookIds.map(bookId => ({ bookId, since: null }))
  const [entries, passes, { stored }, existing] = await Promise.all([
    entriesSince(tx, accountId, books),
    passesOf(tx, accountId, bookIds),
    loadProgress(tx, accountId, { bookIds, sessionIds: [] }),
    tx<{ id: string }[]>`select id from book where id = any(${bookIds as string[]}::uuid[])`,
  ])
  const entriesOf = Map.groupBy(entries, ({ bookId }) => bookId)
  const exists = new Set(existing.map(({ id }) => id))
  const readings = new Map(
    bookIds.map((bookId): [string, Reading] => [
      bookId,
      {
        entries: entriesOf.get(bookId) ?? [],
        passes: passes.get(bookId) ?? [],
        progress: stored.get(bookId)!.progress,
        exists: exists.has(bookId),
      },
    ]),
  )
  return { accountId, readings }
}

function faultsOf({ entries, passes, progress, exists }: Reading): ReadingFault['kinds'] {
  const { completed, current } = foldPasses(entries, null)
  const newest = newestPositions(entries)
  const isPosition =
    newest.length === 0 ||
    newest.some(entry => (progress === null ? entry.kind === 'reset' : isAt(progress, entry)))
  const isPass =
    progress === null ||
    current === null ||
    (progress.startedAt === current.startedAt && progress.finishedAt === current.finishedAt)
  return [
    ...(isSame(sittingsOf(entries), entries) ? [] : ['sittings' as const]),
    ...(JSON.stringify(completed) === JSON.stringify(passes) ? [] : ['passes' as const]),
    ...((isPosition && isPass) || !exists ? [] : ['position' as const]),
  ]
}

/** The position entries and resets that end last; several if at the same time. */
function newestPositions(entries: readonly Entry[]): Entry[] {
  const positions = entries.filter(
    ({ kind, page }) => kind === 'reset' || (kind !== 'forget' && page !== null),
  )
  const at = Math.max(...positions.map(({ endedAt }) => endedAt))
  return positions.filter(({ endedAt }) => endedAt === at)
}

const isAt = (progress: StoredProgress, entry: Entry) =>
  entry.kind !== 'reset' &&
  progress.updatedAt === entry.endedAt &&
  progress.page === entry.page &&
  progress.percentage === entry.percentage &&
  (entry.kind === 'baseline' || progress.isCompleted === (entry.kind !== 'progress'))

const isSingle = (entry: Entry) => !entry.isSession && isSitting(entry)

/** The entries with each device's single positions merged and their time inferred. */
function sittingsOf(entries: readonly Entry[]): Entry[] {
  const merged = [...Map.groupBy(entries, ({ device }) => device).values()].flatMap(ofDevice => {
    let sittings: Entry[] = []
    for (const position of ofDevice.filter(isSingle).sort((a, b) => a.endedAt - b.endedAt)) {
      const { entry, absorbed } = mergePosition(sittings, position)
      sittings = [...sittings.filter(one => !absorbed.includes(one) && one.id !== entry.id), entry]
    }
    return sittings.map(sitting => inferTime(sitting, ofDevice))
  })
  return [...entries.filter(entry => !isSingle(entry)), ...merged]
}

function isSame(a: readonly Entry[], b: readonly Entry[]): boolean {
  const text = (entries: readonly Entry[]) =>
    JSON.stringify(entries.toSorted((x, y) => (x.id < y.id ? -1 : 1)).map(sortedFields))
  return a.length === b.length && text(a) === text(b)
}

const sortedFields = (entry: Entry) => Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))

/** Restores sittings, passes and positions to what follows from the entries. */
export async function rebuildReading(sql: Sql, accountId: string, bookIds: readonly string[]) {
  await sql.begin(async tx => {
    await tx`select from account where id = ${accountId} for no key update`
    const { readings } = await loadReadings(tx, accountId, bookIds)
    const rebuilt = [...readings].map(([bookId, reading]) => ({
      bookId,
      ...reading,
      sittings: sittingsOf(reading.entries),
    }))
    const sittings = rebuilt.flatMap(reading => reading.sittings)
    const current = new Set(sittings.map(({ id }) => id))
    const merged = rebuilt
      .flatMap(({ entries }) => entries.map(({ id }) => id))
      .filter(id => !current.has(id))
    await deleteEntries(tx, accountId, merged)
    await storeEntries(tx, accountId, sittings)
    const all = bookIds.map(bookId => ({ bookId, from: null }))
    const passes = await foldAgain(tx, accountId, all)
    const positions = rebuilt
      .filter(({ exists, sittings }) => exists && newestPositions(sittings).length > 0)
      .map(({ bookId, sittings, progress }) => {
        const newest = newestPositions(sittings)
        const entry = newest.find(one => progress && isAt(progress, one)) ?? newest.at(-1)!
        return { bookId, entry, progress, pass: passes.get(bookId) ?? null }
      })
    const isReset = ({ entry }: { entry: Entry }) => entry.kind === 'reset'
    const begun = positions
      .filter(position => !isReset(position))
      .map(({ bookId, entry, progress, pass }) => ({
        bookId,
        ...positionOf(entry, progress),
        startedAt: pass?.startedAt ?? entry.endedAt,
        finishedAt: pass?.finishedAt ?? null,
      }))
    await storeProgress(tx, accountId, begun)
    const cleared = positions.filter(isReset).map(({ bookId }) => bookId)
    await deleteStoredProgress(tx, accountId, cleared)
    const rows = await tx<{ id: string }[]>`
      select distinct series_id as id from book where id = any(${bookIds as string[]}::uuid[])`
    const series = rows.map(({ id }) => id)
    await refreshAccountReading(tx, accountId, series)
  })
}

function positionOf(entry: Entry, stored: StoredProgress | null) {
  const isSame = stored !== null && isAt(stored, entry)
  const isCompleted =
    entry.kind === 'baseline' ? entry.completedAt.length > 0 : entry.kind !== 'progress'
  return {
    page: entry.page ?? 0,
    percentage: entry.percentage,
    isCompleted: isSame ? stored.isCompleted : isCompleted,
    updatedAt: entry.endedAt,
    positionId: isSame ? stored.positionId : entry.id,
  }
}
