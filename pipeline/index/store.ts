// Writes a batch of readings in one transaction: books, pages, series, counters, the scan's figures,
// the jobs that follow, the events. Whatever kills the process, a batch is stored whole or not at all.
import type { Sql, TransactionSql } from 'postgres'
import { tellScan } from '../../lib/catalog/scan/scan-events.ts'
import { Conflict } from '../../lib/errors.ts'
import { tell } from '../../lib/event/publish.ts'
import { countFiles } from '../../lib/metrics/scan.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import { storeFigures, storeRecords } from '../scan/progress.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import { batchEvents, isOther } from './batch-events.ts'
import { writeBooks } from './book-rows.ts'
import { applyCounting, count, counting } from './counters.ts'
import { enqueueCovers, enqueueHashes } from './follow-up-jobs.ts'
import type { Match } from './match.ts'
import { findOrMakeSeries } from './series.ts'

export type Batch = { matches: Match[]; bytesRead: number; opens: number }

/** Stores a batch and enqueues covers and hashes in the same transaction. */
export async function store(sql: Sql, queue: Queue, scan: ScanContext, batch: Batch) {
  const stored = await sql.begin(async tx => {
    const claimed = await claim(tx, batch.matches)
    const matches = batch.matches.filter(m => claimed.has(m.found.id))
    if (matches.length === 0) return null
    if (new Set(matches.map(m => m.bookId)).size < matches.length)
      throw new Error('one book for two files')
    await lockBooks(tx, matches)
    const written = matches.filter(m => !m.reading.same)
    const series = await findOrMakeSeries(tx, { id: scan.libraryId, root: scan.root }, written)
    const seriesOf = (m: Match) => series.ids.get(m.reading.series?.key ?? '') ?? m.before!.seriesId
    await leavePlaces(tx, matches)
    const read = written.filter(m => !keepsOldFacts(m))
    const altered = await writeBooks(tx, scan, {
      matches: read,
      seriesOf,
      again: read.filter(m => !isOther(m)).map(m => m.bookId),
    })
    await touchBooks(tx, scan, matches)
    const counted = counting()
    for (const m of matches) {
      if (m.displaced) count(counted, m.displaced, -1)
      if (m.displaced) count(counted, { ...m.displaced, missing: true }, 1)
      if (m.before) count(counted, m.before, -1)
      count(counted, after(m, scan, seriesOf), 1)
    }
    await tx`delete from vanished where book_id = any(${matches.map(m => m.bookId)})`
    await rememberSeries(tx, scan.libraryId, [...counted.series.keys()])
    const covers = await enqueueCovers(tx, queue, scan, matches.filter(needsCover))
    const hashes = await enqueueHashes(tx, queue, scan, matches.filter(needsHash))
    if (scan.followed) await storeRecords(tx, scan.scanId, matches)
    await applyCounting(tx, counted)
    await tell(
      tx,
      batchEvents({
        libraryId: scan.libraryId,
        matches,
        series,
        seriesOf: m => after(m, scan, seriesOf).seriesId,
        altered: new Set(altered),
      }),
    )
    const figures = figuresOf(matches, batch, covers, hashes)
    await storeFigures(tx, scan.scanId, { ...figures, series_added: series.made.length })
    await tellScan(tx, scan.scanId)
    return figures
  })
  if (stored) countFiles(scan.libraryId, stored)
}

/** Takes the work out of `found`; what another process took, or what changed since, is left alone. */
async function claim(tx: TransactionSql, matches: Match[]) {
  const wanted = matches.map(m => ({ id: m.found.id, size: m.found.size, ms: m.found.modifiedMs }))
  const rows = await tx<{ id: string }[]>`
    delete from found f
    using jsonb_to_recordset(${tx.json(wanted)}) as w(id bigint, size bigint, ms bigint)
    where f.id = w.id and f.size = w.size and f.modified_ms = w.ms
    returning f.id::text`
  return new Set(rows.map(row => row.id))
}

/** The books this batch changes, as they were when it was matched; a difference sends the job round again. */
async function lockBooks(tx: TransactionSql, matches: Match[]) {
  const known = matches.flatMap(m => [m.before, m.displaced]).filter(k => k !== null)
  if (known.length === 0) return
  const rows = await tx<{ id: string; state: string }[]>`
    select id, directory_id || encode(name, 'hex') || (missing_at is not null) || page_count || '/' || size as state
    from book
    where id = any(${known.map(k => k.id)})
    order by id
    for no key update`
  const now = new Map(rows.map(row => [row.id, row.state]))
  for (const k of known) {
    const seen = `${k.directoryId}${k.name}${k.missing}${k.pageCount}/${k.size}`
    if (now.get(k.id) !== seen) throw new Conflict('The book changed while its file was read')
  }
}

/**
 * A file that cannot be read now leaves what was known of the book; only the error is new. One that
 * moved was unreadable before, and its place says more.
 */
function keepsOldFacts(m: Match) {
  return m.reading.error !== null && m.before !== null && m.outcome !== 'moved'
}

function after(m: Match, scan: ScanContext, seriesOf: (m: Match) => string) {
  const old = m.reading.same || keepsOldFacts(m)
  return {
    libraryId: scan.libraryId,
    seriesId: old ? m.before!.seriesId : seriesOf(m),
    missing: false,
    pageCount: old ? m.before!.pageCount : m.reading.pageCount,
    size: m.found.size,
  }
}

/** Frees the places that moving books leave or take, so that no two present books meet in one. */
async function leavePlaces(tx: TransactionSql, matches: Match[]) {
  const displaced = matches.filter(m => m.displaced).map(m => m.displaced!.id)
  const moving = matches.filter(m => m.outcome === 'moved' && !m.before!.missing).map(m => m.bookId)
  if (displaced.length === 0 && moving.length === 0) return
  await tx`
    update book set missing_at = now(), updated_at = now()
    where id = any(${[...displaced, ...moving]})`
}

/** Books whose facts stay: a new time, a return, or an error on a book that was good before. */
async function touchBooks(tx: TransactionSql, scan: ScanContext, matches: Match[]) {
  const rows = matches
    .filter(m => m.reading.same || keepsOldFacts(m))
    .map(m => ({
      id: m.bookId,
      directory: m.found.directoryId,
      place: m.found.name,
      ms: m.found.modifiedMs,
      size: m.found.size,
      fingerprint: m.reading.fingerprint,
      code: m.reading.error?.code ?? null,
      message: m.reading.error?.message ?? null,
    }))
  if (rows.length === 0) return
  await tx`
    update book b
    set modified_ms = t.ms, size = t.size, missing_at = null, updated_at = now(),
      directory_id = t.directory, name = decode(t.place, 'hex'), library_id = ${scan.libraryId},
      fingerprint = coalesce(decode(t.fingerprint, 'hex'), b.fingerprint),
      sha256 = case when t.code is null then b.sha256 end,
      error_code = t.code, error_message = t.message, scan_id = ${scan.scanId}
    from jsonb_to_recordset(${tx.json(rows)})
      as t(id uuid, directory uuid, place text, ms bigint, size bigint, fingerprint text, code text, message text)
    where b.id = t.id`
}

/** Series whose titles and order the end of the scan settles. */
async function rememberSeries(tx: TransactionSql, libraryId: string, ids: string[]) {
  if (ids.length === 0) return
  await tx`
    insert into touched_series (library_id, series_id)
    select ${libraryId}, id from unnest(${ids.sort()}::uuid[]) as id
    on conflict do nothing`
}

function needsCover(m: Match) {
  if (m.reading.error) return false
  if (m.before && !m.before.covered) return true
  if (m.reading.same) return false
  return m.outcome !== 'moved' || m.found.forced
}

/** A moved or returned book keeps its hash; deep mode hashes again to see what the fingerprint cannot. */
function needsHash(m: Match) {
  if (m.reading.fingerprint === null) return false
  const { before, found, reading } = m
  // An error dropped the old hash in touchBooks.
  if (before === null || before.sha256 === null || found.forced || reading.error) return true
  return before.fingerprint !== reading.fingerprint || before.size !== found.size
}

function figuresOf(matches: Match[], batch: Batch, covers: number, hashes: number) {
  // A file that failed is counted as that and nothing else.
  const of = (outcome: Match['outcome']) =>
    matches.filter(m => m.outcome === outcome && !m.reading.error).length
  const failed: Record<string, number> = {}
  for (const m of matches)
    if (m.reading.error) failed[m.reading.error.code] = (failed[m.reading.error.code] ?? 0) + 1
  return {
    added: of('new'),
    changed: of('changed'),
    moved: of('moved'),
    restored: of('restored'),
    unchanged: of('unchanged'),
    missing: matches.filter(m => m.displaced).length,
    failed,
    warnings: matches.reduce((sum, m) => sum + m.reading.warnings.length, 0),
    to_cover: covers,
    to_hash: hashes,
    bytes_read: batch.bytesRead,
    opens: batch.opens,
  }
}
