// Stores what writes to the ledger changed: entries, passes, positions, locators, counters and events.
import type { Viewer } from '../accounts/viewer.ts'
import { refreshAccountReading } from '../catalog/derived/series-reading.ts'
import { bookEvents, publish } from '../store/event/publish.ts'
import type { Transaction } from '../store/postgres/db.ts'
import type { BookReading } from './book-reading.ts'
import { deleteEntries, storeEntries } from './entry-rows.ts'
import { foldAgain, storePasses } from './pass-rows.ts'
import type { ProgressRow } from './progress/progress-record.ts'
import { deleteStoredProgress, type StoredProgress, storeProgress } from './progress-rows.ts'

/** Returns the progress in books that were started. Sends its statements at once, unless passes are folded again. */
export async function storeReadings(
  tx: Transaction,
  { accountId }: Viewer,
  readings: readonly BookReading[],
): Promise<ProgressRow[]> {
  const changed = readings.filter(({ changed }) => changed.size > 0)
  const folded = changed.filter(({ foldFrom }) => foldFrom !== null)
  const moved = changed.filter(({ change }) => change !== null)
  const entries = changed.flatMap(reading => [...reading.changed.values()])
  const absorbed = changed.flatMap(reading => [...reading.deleted])
  const storing = [storeEntries(tx, accountId, entries), deleteEntries(tx, accountId, absorbed)]
  if (folded.length > 0) {
    await Promise.all(storing)
    await foldBooks(tx, accountId, folded)
  }
  const affected = [...new Set([...folded, ...moved])]
  const passes = changed
    .filter(({ foldFrom }) => foldFrom === null)
    .flatMap(({ completed, book }) => completed.map(pass => ({ ...pass, bookId: book.id })))
  const begun = affected.flatMap(({ progress, book }) =>
    progress ? [{ ...progress, bookId: book.id }] : [],
  )
  const cleared = moved.flatMap(({ progress, book }) => (progress ? [] : [book.id]))
  const series = affected.map(({ book }) => book.seriesId)
  const movedBooks = moved.map(({ book }) => book)
  await Promise.all([
    ...(folded.length > 0 ? [] : storing),
    storePasses(tx, accountId, passes),
    storeProgress(tx, accountId, begun),
    deleteStoredProgress(tx, accountId, cleared),
    storeLocators(tx, accountId, moved),
    refreshAccountReading(tx, accountId, series),
    publish(tx, bookEvents('progress_updated', movedBooks, { accountId })),
  ])
  return readings.flatMap(({ book, progress }) =>
    progress ? [progressRow(accountId, book.id, progress)] : [],
  )
}

async function foldBooks(tx: Transaction, accountId: string, readings: readonly BookReading[]) {
  const current = await foldAgain(
    tx,
    accountId,
    readings.map(({ book, foldFrom }) => ({ bookId: book.id, from: foldFrom! })),
  )
  for (const reading of readings) {
    const pass = current.get(reading.book.id)
    if (pass && reading.progress) reading.progress = { ...reading.progress, ...pass }
  }
}

/** Stores the locators of new positions. A position written without one makes the stored locator obsolete. */
async function storeLocators(tx: Transaction, accountId: string, readings: readonly BookReading[]) {
  const rows = readings.flatMap(({ book, progress, change }) => {
    const { locator } = change!
    if (!progress || !locator) return []
    const { device, readium = null, koreader = null } = locator
    const { positionId } = progress
    return [
      {
        book_id: book.id,
        position_id: positionId,
        device,
        locator: readium,
        koreader,
        modified_at: new Date(Math.min(locator.modified ?? Infinity, progress.updatedAt)),
      },
    ]
  })
  if (rows.length > 0)
    await tx`
      insert into book_locator (account_id, book_id, position_id, modified_at, device, locator,
        koreader)
      select ${accountId}, r.*
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r(book_id uuid, position_id uuid,
        modified_at timestamptz, device json, locator json, koreader json)
      on conflict (account_id, book_id) do update set position_id = excluded.position_id,
        modified_at = excluded.modified_at, device = excluded.device, locator = excluded.locator,
        koreader = excluded.koreader`
  for (const { book, progress, change } of readings)
    if (progress && change!.locator === undefined)
      await tx`
        update book_locator set position_id = ${progress.positionId}
        where account_id = ${accountId} and book_id = ${book.id}
          and position_id = ${change!.previous}`
}

function progressRow(accountId: string, bookId: string, progress: StoredProgress): ProgressRow {
  const { page, percentage, isCompleted, startedAt, updatedAt, finishedAt } = progress
  return {
    ...{ accountId, bookId, currentPage: page, percentage, isCompleted },
    startedAt: new Date(startedAt),
    updatedAt: new Date(updatedAt),
    completedAt: isCompleted ? new Date(finishedAt ?? updatedAt) : null,
  }
}
