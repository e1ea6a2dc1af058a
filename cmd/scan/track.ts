// Tracks a scan until its books, covers, hashes and duplicates are done: progress bars on stderr, NDJSON
// records on stdout.
import { once } from 'node:events'
import { Conflict, Unavailable } from '../../lib/base/errors.ts'
import { isConnectionLost } from '../../lib/store/postgres/connection-error.ts'
import { shortageMessage } from '../../lib/store/space-guard.ts'
import { dedupe } from '../../pipeline/finalize/dedupe.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import {
  type BookRow,
  type ScanRecord,
  selectBooks,
  toRecord,
} from '../../pipeline/scan/figures.ts'
import type { Context } from '../context.ts'
import { createProgressBars } from './progress.ts'
import { loadScanStats, type ScanStats } from './summary.ts'

// Fast while records are printed; progress bars do not need it. The end of the scan is noticed immediately.
const pollMs = { fast: 25, slow: 100 }
const maxLossMs = 60_000
// Polls without any job of a running scan before it counts as abandoned; a job being retried is briefly
// absent.
const maxOrphanedPolls = 200

type TrackedScan = {
  scanId: string
  libraryId: string
  printsRecords: boolean
  /** Library-relative folders and files that are scanned, as bytes; empty means all. */
  paths: Buffer[]
  /** Fails if space is low, instead of waiting for more. */
  endsWhenShort?: true
  isStopped: () => boolean
}

/**
 * Resolves with the final statistics, or with the current ones once `isStopped`. Survives a database restart.
 * Throws Conflict, and with `endsWhenShort` Unavailable if the scan pauses because space is low.
 */
export async function trackScan(
  { sql }: Pick<Context, 'sql'>,
  pipeline: Pipeline,
  scan: TrackedScan,
): Promise<ScanStats> {
  const started = performance.now()
  const progress = createProgressBars()
  let orphanedPolls = 0
  const pollAgainWhenLost = createPatience()
  const elapsedSeconds = () => (performance.now() - started) / 1000
  try {
    const poll = async (): Promise<'ended' | 'goes on'> => {
      if (scan.printsRecords) await printRecords(sql, scan)
      const stats = await loadScanStats(sql, scan.scanId)
      progress.update(stats)
      const isRunning = stats.state === 'queued' || stats.state === 'running'
      if (!isRunning && !(await pipeline.queue.hasJobs(scan.libraryId, ['index', 'cover', 'hash'])))
        return 'ended'
      // Covers come last: a catalog without them is complete.
      const shortage = pipeline.space.shortage(
        isRunning ? ['database'] : ['database', 'thumbnails'],
      )
      if (shortage && scan.endsWhenShort) throw new Unavailable(shortageMessage(shortage))
      const isOrphaned = isRunning && !(await pipeline.queue.hasJobs(scan.libraryId, ['scan']))
      orphanedPolls = isOrphaned ? orphanedPolls + 1 : 0
      if (orphanedPolls > maxOrphanedPolls)
        throw new Conflict('The scan was abandoned; see the server log')
      return 'goes on'
    }
    while (!scan.isStopped()) {
      const seen = pipeline.scanEnds.notifyCount()
      if ((await pollAgainWhenLost(poll)) === 'ended') break
      await pipeline.scanEnds.wait(scan.printsRecords ? pollMs.fast : pollMs.slow, seen)
    }
    if (!scan.isStopped() && scan.printsRecords) {
      await printRecords(sql, scan)
      const { state } = await loadScanStats(sql, scan.scanId)
      if (state === 'completed') await printUnchanged(sql, scan)
    }
    const dedupeStarted = performance.now()
    const stats = await loadScanStats(sql, scan.scanId)
    const hasChanges = stats.indexed + stats.missing + stats.hashed > 0
    if (!scan.isStopped() && hasChanges) await dedupe(sql)
    return {
      ...stats,
      dedupeSeconds: (performance.now() - dedupeStarted) / 1000,
      totalSeconds: elapsedSeconds(),
    }
  } finally {
    progress.close()
  }
}

type Sql = Context['sql']

/** Repeats a poll while the database restarts; throws Unavailable if that takes too long. */
function createPatience() {
  let lostSince: number | null = null
  return async <T>(poll: () => Promise<T>): Promise<T | null> => {
    try {
      const result = await poll()
      lostSince = null
      return result
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      lostSince ??= performance.now()
      if (performance.now() - lostSince > maxLossMs)
        throw new Unavailable('The database could not be reached for a minute')
      return null
    }
  }
}

/** Prints and deletes the records stored so far, at most 500 in memory at a time. */
async function printRecords(sql: Sql, scan: TrackedScan) {
  while (!scan.isStopped()) {
    const rows = await sql<{ id: string; record: ScanRecord }[]>`
      delete from scan_record
      where id in (select id from scan_record where scan_id = ${scan.scanId} order by id limit 500)
      returning id, record`
    if (rows.length === 0) return
    rows.sort((a, b) => Number(a.id) - Number(b.id))
    await print(rows.map(row => row.record))
  }
}

/** Prints the books that the scan did not touch. */
async function printUnchanged(sql: Sql, scan: TrackedScan) {
  const isBelow = (path: Buffer) => sql`(d.path = ${path}
    or substring(d.path for ${path.length + 1}) = ${Buffer.concat([path, Buffer.from('/')])}
    or (d.path || '/'::bytea || b.name) = ${path} or (d.path = '' and b.name = ${path}))`
  const pathFilter =
    scan.paths.length === 0
      ? sql``
      : sql`and (${scan.paths.map(isBelow).reduce((left, right) => sql`${left} or ${right}`)})`
  const books = sql<BookRow[]>`
    ${selectBooks(sql)}
    where b.library_id = ${scan.libraryId} and b.missing_at is null
      and b.scan_id is distinct from ${scan.scanId} ${pathFilter}`.cursor(500)
  for await (const rows of books) {
    if (scan.isStopped()) return
    await print(rows.map(row => toRecord(row, 'unchanged')))
  }
}

async function print(records: ScanRecord[]) {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  if (process.stdout.write(text) || !process.stdout.writable) return
  // Aborted afterwards, to remove the listener for the other event.
  const listeners = new AbortController()
  const { signal } = listeners
  await Promise.race([
    once(process.stdout, 'drain', { signal }),
    once(process.stdout, 'close', { signal }),
  ]).finally(() => listeners.abort())
}
