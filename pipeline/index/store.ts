// Stores a batch of readings in one transaction: books, pages, series, counters, the scan's figures,
// follow-up jobs and events. After a crash, a batch is stored either completely or not at all.

import { Conflict } from '../../lib/base/errors.ts'
import {
  addShare,
  applyCounterDeltas,
  createCounterDeltas,
  type Share,
} from '../../lib/catalog/derived/counters.ts'
import { lockSeries } from '../../lib/catalog/row-locks.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import { publish } from '../../lib/store/event/publish.ts'
import { countFiles } from '../../lib/store/metrics/pipeline.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { afterAttempt } from '../scan/failed-files.ts'
import { addScanFigures } from '../scan/figures.ts'
import { resetLeftFolders } from '../scan/folders.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import { batchEvents, insertMatchRecords, isChanged } from './batch-events.ts'
import { writeBooks } from './book-rows.ts'
import { enqueueCovers, enqueueHashes } from './follow-up-jobs.ts'
import { hasContent, isDamaged, knownHash, type Match } from './match.ts'
import { findIds, findOrCreateSeries } from './series.ts'

export type Batch = { matches: Match[]; bytesRead: number; opens: number }

export type StoreDeps = { sql: Sql; queue: Queue; scan: ScanContext }

/**
 * Throws Conflict if a book changed since it was matched. Two batches that move books between the same series
 * may deadlock.
 */
export async function storeBatch({ sql, queue, scan }: StoreDeps, batch: Batch): Promise<void> {
  const figures = await retryOnDeadlock(sql, async tx => {
    const claimed = await claimFiles(tx, batch.matches)
    const matches = batch.matches.filter(m => claimed.has(m.file.id))
    if (matches.length === 0) return null
    if (new Set(matches.map(m => m.bookId)).size < matches.length)
      throw new Error('one book for two files')
    await lockKnownBooks(tx, scan, matches)
    const read = matches.filter(m => !m.reading.isUnchanged)
    const series = await findOrCreateSeries(tx, { id: scan.libraryId, root: scan.root }, read)
    const seriesOf = (m: Match) => series.ids.get(m.reading.series?.key ?? '') ?? m.before!.seriesId
    await lockSeries(tx, series.ids.values(), 'reference')
    await vacatePlaces(tx, matches)
    const described = read.filter(m => !keepsMetadata(m))
    const altered = await writeBooks(tx, scan, {
      matches: described,
      seriesOf,
      unchangedFiles: described.filter(m => !isChanged(m)).map(m => m.bookId),
    })
    await touchBooks(tx, scan, matches)
    await recordAttempts(tx, read)
    const leftPlaces = matches.filter(leavesPlace).map(m => m.before!)
    await resetLeftFolders(tx, leftPlaces)
    const counters = countersOf(matches, scan, seriesOf)
    await tx`delete from missing_candidate where book_id = any(${matches.map(m => m.bookId)})`
    await markSeriesForRefresh(tx, scan.libraryId, [...counters.series.keys()])
    const covers = await enqueueCovers(tx, queue, scan, matches.filter(needsCover))
    const hashes = await enqueueHashes(tx, queue, scan, matches.filter(needsHash))
    if (scan.followed) await insertMatchRecords(tx, scan.scanId, matches)
    await applyCounterDeltas(tx, counters)
    const events = batchEvents({
      ...{ libraryId: scan.libraryId, matches, series, altered: new Set(altered) },
      seriesOf: m => shareAfter(m, scan, seriesOf).seriesId,
    })
    await publish(tx, events)
    const figures = figuresOf(matches, batch, { covers, hashes })
    await addScanFigures(tx, scan.scanId, { ...figures, series_added: series.created.length })
    await publishScan(tx, scan.scanId)
    return figures
  })
  if (figures) countFiles(scan.libraryId, figures)
}

/**
 * Deletes the pending files, skipping any that another process took, or that changed or were requested since.
 */
async function claimFiles(tx: Transaction, matches: Match[]): Promise<Set<string>> {
  const files = matches.map(({ file: { id, size, modifiedMs: ms, forced } }) => ({
    ...{ id, size, ms, forced },
  }))
  const rows = await tx<{ id: string }[]>`
    with claimed as (
      select f.id
      from jsonb_to_recordset(${tx.json(files)}) as w(id bigint, size bigint, ms bigint, forced boolean)
      join pending_file f
        on f.id = w.id and f.size = w.size and f.modified_ms = w.ms and f.forced = w.forced
      order by f.directory_id, f.name
      for update of f
    )
    delete from pending_file f
    using claimed c
    where f.id = c.id
    returning f.id::text`
  return new Set(rows.map(row => row.id))
}

/**
 * Locks the batch's known books, after their series and the series they may move to, and compares the books
 * with what was matched; if they differ, the job is retried.
 */
async function lockKnownBooks(tx: Transaction, { libraryId }: ScanContext, matches: Match[]) {
  const books = matches.flatMap(m => [m.before, m.displaced]).filter(book => book !== null)
  if (books.length === 0) return
  const keys = matches.flatMap(m => m.reading.series?.key ?? [])
  const targets = await findIds(tx, libraryId, [...new Set(keys)])
  await lockSeries(tx, [...books.map(book => book.seriesId), ...targets.values()])
  const rows = await tx<{ id: string; state: string }[]>`
    select id, concat(directory_id, encode(name, 'hex'), missing_at is not null, page_count, '/', size,
      encode(fingerprint, 'hex')) as state
    from book
    where id = any(${books.map(book => book.id)})
    order by id
    for no key update`
  const states = new Map(rows.map(row => [row.id, row.state]))
  for (const book of books) {
    const { directoryId, name, isMissing, pageCount, size, fingerprint } = book
    const expected = `${directoryId}${name}${isMissing ? 't' : 'f'}${pageCount}/${size}${fingerprint ?? ''}`
    if (states.get(book.id) !== expected)
      throw new Conflict('The book changed while its file was being read')
  }
}

/**
 * A file that has become unreadable retains the book's metadata; only the error is new. If a moved file was
 * already unreadable, its new place is more informative than the old one.
 */
function keepsMetadata(m: Match) {
  return m.reading.error !== null && m.before !== null && m.outcome !== 'moved'
}

function countersOf(matches: Match[], scan: ScanContext, seriesOf: (m: Match) => string) {
  const counters = createCounterDeltas()
  for (const m of matches) {
    if (m.displaced) {
      addShare(counters, m.displaced, -1)
      addShare(counters, { ...m.displaced, isMissing: true }, 1)
    }
    if (m.before) addShare(counters, m.before, -1)
    addShare(counters, shareAfter(m, scan, seriesOf), 1)
  }
  return counters
}

/** What a book contributes to the counters after storing. */
function shareAfter(m: Match, scan: ScanContext, seriesOf: (m: Match) => string): Share {
  const isRetained = m.reading.isUnchanged || keepsMetadata(m)
  return {
    libraryId: scan.libraryId,
    seriesId: isRetained ? m.before!.seriesId : seriesOf(m),
    isMissing: false,
    pageCount: isRetained ? m.before!.pageCount : m.reading.pageCount,
    size: m.file.size,
  }
}

/** First marks books that move or are displaced as missing: a place can only have one present book. */
async function vacatePlaces(tx: Transaction, matches: Match[]) {
  const displaced = matches.filter(m => m.displaced).map(m => m.displaced!.id)
  const moving = matches.filter(leavesPlace).map(m => m.bookId)
  if (displaced.length === 0 && moving.length === 0) return
  await tx`
    update book set missing_at = now(), updated_at = now()
    where id = any(${[...displaced, ...moving]})`
}

/** A present book was found elsewhere. */
const leavesPlace = ({ outcome, before }: Match) => outcome === 'moved' && !before!.isMissing

/** Updates books whose metadata stays: a new time, a return, or an error on a book that was readable. */
async function touchBooks(tx: Transaction, scan: ScanContext, matches: Match[]) {
  const rows = matches
    .filter(m => m.reading.isUnchanged || keepsMetadata(m))
    .map(m => ({ ...m, isDamaged: isDamaged(m) }))
    .map(({ bookId, file, reading, isDamaged }) => ({
      id: bookId,
      directory: file.directoryId,
      place: file.name,
      ms: file.modifiedMs,
      size: file.size,
      fingerprint: isDamaged ? null : reading.fingerprint,
      hasLost: reading.error !== null && !isDamaged,
      code: reading.error?.code ?? null,
      message: reading.error?.message ?? null,
    }))
  if (rows.length === 0) return
  await tx`
    update book b
    set modified_ms = t.ms, size = t.size, missing_at = null, updated_at = now(),
      directory_id = t.directory, name = decode(t.place, 'hex'), library_id = ${scan.libraryId},
      fingerprint = coalesce(decode(t.fingerprint, 'hex'), b.fingerprint),
      error_code = t.code, error_message = t.message, scan_id = ${scan.scanId}
    from jsonb_to_recordset(${tx.json(rows)})
      as t(id uuid, directory uuid, place text, ms bigint, size bigint, fingerprint text, code text, message text)
    where b.id = t.id`
  // Unreadable files may have different content than what was hashed.
  const unreadable = rows.filter(row => row.hasLost).map(row => row.id)
  if (unreadable.length > 0)
    await tx`update book_artifact set sha256 = null where book_id = any(${unreadable})`
}

/** Records failed attempts to read files, and clears those of files that failed before. */
async function recordAttempts(tx: Transaction, read: Match[]) {
  const rows = read
    .filter(m => m.reading.error !== null || m.before?.hasError)
    .map(({ bookId, reading }) => ({
      id: bookId,
      failed: reading.error !== null,
      ms: reading.error && reading.changedMs,
    }))
  if (rows.length === 0) return
  await tx`
    update book_artifact a
    set changed_ms = t.ms, ${afterAttempt(tx, tx`t.failed`)}
    from jsonb_to_recordset(${tx.json(rows)}) as t(id uuid, failed boolean, ms bigint)
    where a.book_id = t.id`
}

/** The end of the scan refreshes titles, order and derived state of these series. */
async function markSeriesForRefresh(tx: Transaction, libraryId: string, ids: string[]) {
  if (ids.length === 0) return
  await tx`
    insert into series_refresh (library_id, series_id)
    select ${libraryId}, id from unnest(${ids.sort()}::uuid[]) as id
    on conflict do nothing`
}

function needsCover(m: Match) {
  if (m.reading.error) return false
  if (m.before && !m.before.hasCover) return true
  if (m.reading.isUnchanged) return false
  const isKnown = m.outcome === 'moved' || m.outcome === 'restored'
  return m.file.forced || !isKnown || !hasContent(m.before!, m.file, m.reading)
}

/**
 * A moved or restored book retains its hash; deep mode hashes again to detect what the fingerprint cannot.
 */
function needsHash(match: Match) {
  const { before, file, reading } = match
  // Empty files are not duplicates of each other.
  if (file.size === 0 || reading.fingerprint === null || knownHash(match) !== null) return false
  if (before === null || before.sha256 === null) return true
  if (isDamaged(match)) return false
  // After another error touchBooks has deleted the hash. A book that had one may still be damaged.
  if (file.forced || reading.error || before.hasError) return true
  return !hasContent(before, file, reading)
}

function figuresOf(
  matches: Match[],
  batch: Batch,
  { covers, hashes }: { covers: number; hashes: number },
) {
  // A file with an error only counts as failed.
  const countOf = (outcome: Match['outcome']) =>
    matches.filter(m => m.outcome === outcome && !m.reading.error).length
  const failed: Record<string, number> = {}
  for (const { reading } of matches)
    if (reading.error) failed[reading.error.code] = (failed[reading.error.code] ?? 0) + 1
  return {
    added: countOf('new'),
    changed: countOf('changed'),
    moved: countOf('moved'),
    restored: countOf('restored'),
    unchanged: countOf('unchanged'),
    missing: matches.filter(m => m.displaced).length - matches.filter(m => m.wasDisplaced).length,
    failed,
    warnings: matches.reduce((sum, m) => sum + m.reading.warnings.length, 0),
    to_cover: covers,
    to_hash: hashes,
    bytes_read: batch.bytesRead,
    opens: batch.opens,
  }
}
