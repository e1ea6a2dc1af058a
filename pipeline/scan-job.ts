// The scan job: discovers the files of a library, waits until they are indexed and finalizes the catalog.
// Covers and hashes follow in separate jobs, so that a library of terabytes can be scanned again before they
// are done.

import type { FileAccess } from '../lib/base/containment.ts'
import { NotResponding } from '../lib/base/errors.ts'
import type { Log } from '../lib/base/log.ts'
import { publishScan } from '../lib/catalog/scan/scan-events.ts'
import { combineListChanges } from '../lib/list/list-version.ts'
import { linkDocuments } from '../lib/protocols/koreader/documents.ts'
import { createPhaseTimer } from '../lib/store/metrics/pipeline.ts'
import { mountHealth, mountKey } from '../lib/store/mount/mount-health.ts'
import { isConnectionLost, isDiskFull } from '../lib/store/postgres/connection-error.ts'
import type { DedicatedConnection, Sql } from '../lib/store/postgres/db.ts'
import type { JobOutcome } from '../lib/store/queue/job-run.ts'
import type { Jobs, Queue } from '../lib/store/queue/queue.ts'
import type { SpaceGuard } from '../lib/store/space-guard.ts'
import { enqueueDedupe, enqueueMatching, enqueuePurge } from './finalize/after-scan.ts'
import { enqueueArtwork } from './finalize/artwork.ts'
import { enqueueDue } from './finalize/due.ts'
import { finalizeMissing } from './finalize/missing.ts'
import { finalizeSeries, noteGrownSeries } from './finalize/series.ts'
import { refreshStatistics } from './finalize/statistics.ts'
import { deviceOf, logAvailability, pauseMessage, unavailableReason } from './scan/availability.ts'
import { discover, openScanWalk } from './scan/discover.ts'
import { retryPending, takeOver } from './scan/pending-files.ts'
import { regroupBooks } from './scan/regroup.ts'
import { type LoadedScan, loadScan } from './scan/scan-context.ts'
import { nothingUnreadable, type Unreadable, unreadableMessage } from './scan/unreadable.ts'
import type { Walk } from './scan/walk.ts'

export type ScanDeps = {
  sql: Sql
  space: SpaceGuard
  queue: Queue
  log: Log
  brakePercent: number
  /** Which files may be read, as currently configured. */
  access: FileAccess
  /** `pipeline.io_depth` */
  ioDepth: number
  /** Wakes the workers that index books. */
  wakeIndexers: () => void
  /** Holds the locks of this process. */
  connection: DedicatedConnection
  /** The libraries that this process scans. */
  scanning: Set<string>
}

const retrySeconds = 1
const pollMs = 50

/** Runs the scan; its outcome becomes the job's. Postponed while another scan of the library is running. */
export async function runScanJob(
  deps: ScanDeps,
  job: Jobs['scan'],
  isStopped: () => boolean,
): Promise<JobOutcome | undefined> {
  if (!(await runExclusively(deps, job, isStopped))) return { end: 'later', seconds: retrySeconds }
  const [scan] = await deps.sql<{ state: string; message: string | null }[]>`
    select state, message from scan where id = ${job.scanId}`
  switch (scan?.state ?? 'cancelled') {
    case 'completed':
      return undefined
    case 'cancelled':
      return { end: 'cancelled' }
    case 'queued':
    case 'running':
      return { end: 'later', seconds: retrySeconds }
    default:
      return { end: 'failed', reason: scan?.message ?? 'The scan failed' }
  }
}

/**
 * Runs the scan under the advisory lock of its library; false if another process or job holds it. At most one
 * process scans a library: the lock ends with its connection.
 */
async function runExclusively(
  deps: ScanDeps,
  { scanId, libraryId }: Jobs['scan'],
  isStopped: () => boolean,
): Promise<boolean> {
  const { sql, log, connection, scanning } = deps
  // A connection can take its own locks twice.
  if (scanning.has(libraryId)) return false
  const losses = connection.lossCount()
  // Without its lock, another process could scan the library.
  const hasEnded = () => isStopped() || connection.lossCount() !== losses
  scanning.add(libraryId)
  try {
    const [lock] = await connection.sql`
      select pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as locked`
    if (!lock!.locked) return false
    const scan = await loadScan(sql, scanId)
    if (!scan || !['queued', 'running'].includes(scan.state)) return true
    const [deleted] = await sql`
      select 1 from library where id = ${libraryId} and deleting_at is not null`
    if (deleted) {
      await finish(sql, scanId, 'cancelled', null)
      return true
    }
    const startedAt = performance.now()
    await runStages(deps, scan, hasEnded).catch(error => failScan(deps, scanId, error))
    const ms = Math.round(performance.now() - startedAt)
    const [ended] = await sql`select state from scan where id = ${scanId}`
    log.info(
      { libraryId, scanId, ms, state: ended?.state },
      hasEnded() ? 'scan interrupted' : 'scan ended',
    )
    return true
  } finally {
    scanning.delete(libraryId)
    if (connection.lossCount() === losses)
      await connection.sql`
        select pg_advisory_unlock(hashtext('stackroom.scan'), hashtext(${libraryId}))`.catch(
        () => {},
      )
  }
}

/** Fails a scan that cannot continue; throws transient errors (deadlock, lost connection …), which are retried. */
async function failScan({ sql, log }: ScanDeps, scanId: string, error: unknown) {
  const pause = pauseMessage(error)
  if (pause) await storeMessage(sql, scanId, pause)
  const code = String((error as { code?: unknown }).code ?? '')
  if (pause || isConnectionLost(error) || isDiskFull(error) || /^(40|53|57)/.test(code)) throw error
  const [scan] = await sql`select 1 from scan where id = ${scanId}`
  // Deleted together with its library.
  if (!scan) return
  log.error({ err: error, scanId }, 'scan failed')
  await finish(sql, scanId, 'failed', 'Internal error; see the server log')
}

async function runStages(deps: ScanDeps, scan: LoadedScan, isStopped: () => boolean) {
  // Its threads load and read while the scan is being prepared.
  const walk = scan.options.analysis ? null : openScanWalk({ ...deps, scan })
  try {
    await runStagesWith(deps, { scan, walk }, isStopped)
  } finally {
    walk?.[Symbol.dispose]()
  }
}

async function runStagesWith(
  deps: ScanDeps,
  { scan, walk }: { scan: LoadedScan; walk: Walk | null },
  isStopped: () => boolean,
) {
  const { sql, queue } = deps
  const reason = await unavailableReason(sql, scan)
  if (!reason) walk?.start()
  await logAvailability(deps, scan, reason)
  if (reason) return await finish(sql, scan.scanId, 'unavailable', reason)
  const device = await deviceOf(scan)
  if (!(await takeOver(sql, queue, scan))) return
  const endPhase = createPhaseTimer()
  if (scan.strategiesChanged) await regroupBooks(sql, scan)
  const unreadable = walk ? await discoverFiles(deps, { scan, walk }, isStopped) : nothingUnreadable
  walk?.[Symbol.dispose]()
  endPhase('walk')
  await waitUntilIndexed(deps, scan, isStopped)
  if (isStopped()) return
  endPhase('read')
  await refreshStatistics(sql, [
    ...(['book', 'book_artifact', 'book_summary', 'book_search'] as const),
    ...(['series', 'series_search'] as const),
  ])
  await combineListChanges(sql)
  // A disk that disappeared during the walk makes books look missing.
  const lateReason =
    (await unavailableReason(sql, scan)) ??
    ((await deviceOf(scan)) === device ? null : 'The library folder was replaced during the scan')
  if (lateReason) return await finish(sql, scan.scanId, 'unavailable', lateReason)
  const message = scan.options.analysis ? null : await finalizeMissing(sql, scan, deps.brakePercent)
  if (isStopped()) return
  await finalizeSeries(sql, scan)
  await noteGrownSeries(sql, scan)
  await linkDocuments(sql, scan.libraryId)
  endPhase('finalize')
  if (!scan.options.analysis)
    await sql`
      update library set last_scanned_at = now(), device = ${device},
        strategies_changed = strategies_changed and not ${scan.appliesStrategies ?? false} where id = ${scan.libraryId}`
  if (isStopped()) return
  await enqueueArtwork(sql, queue, scan)
  await enqueueDue(sql, queue, scan)
  await enqueueDedupe(sql, queue, scan)
  await enqueueMatching(sql, queue, scan)
  if (!message) await enqueuePurge(sql, queue, scan)
  const state = message ? 'unconfirmed' : 'completed'
  await finish(sql, scan.scanId, state, message ?? unreadableMessage(unreadable))
}

/** Returns what could not be read. */
async function discoverFiles(
  { sql, queue, space, log }: ScanDeps,
  { scan, walk }: { scan: LoadedScan; walk: Walk },
  isStopped: () => boolean,
): Promise<Unreadable> {
  const beforeBatch = () => space.whenEnough(['database'], isStopped)
  const options = { sql, queue, scan, walk, isDryRun: false, beforeBatch }
  // When the disk hangs, discovery stops, and NotResponding is thrown once it has ended.
  let discovering: ReturnType<typeof discover> | undefined
  const result = await mountHealth
    .runThread(mountKey(scan.root), hung => {
      discovering = discover({ ...options, isStopped: () => hung.aborted || isStopped() })
      return discovering
    })
    .finally(() => Promise.allSettled([discovering]))
  const { files, toRead, unreadable, leftOut } = result
  await sql.begin(async tx => {
    const [row] = await tx<{ isRunning: boolean }[]>`
      update scan
      set found = ${files}, unreadable_directories = ${unreadable}, discovered_at = now(),
        options = options || ${tx.json(leftOut.length > 0 ? { leftOut } : {})}
      where id = ${scan.scanId}
      returning state = 'running' as "isRunning"`
    // A scan without changes publishes its end right away.
    await publishScan(tx, scan.scanId, { force: row?.isRunning === true && toRead > 0 })
  })
  const { libraryId, scanId } = scan
  if (unreadable > 0)
    log.warn({ libraryId, scanId, unreadable }, 'folders or files of the library could not be read')
  return result
}

/**
 * Waits until the library has no pending files. Files that their jobs gave up are retried once, one per job;
 * files added by requests in the meantime are read too.
 */
async function waitUntilIndexed(deps: ScanDeps, scan: LoadedScan, isStopped: () => boolean) {
  const { sql, queue, wakeIndexers } = deps
  const { libraryId } = scan
  while (!isStopped()) {
    if (mountHealth.isHung(mountKey(scan.root))) throw new NotResponding()
    const [pending] = await sql`select 1 from pending_file where library_id = ${libraryId} limit 1`
    if (!pending) return
    if (!(await queue.hasJobs(libraryId, ['index'])) && !(await retryWithoutJobs(deps, scan)))
      return
    wakeIndexers()
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}

/** Returns false if the scan was canceled. */
async function retryWithoutJobs({ sql, queue, log }: ScanDeps, scan: LoadedScan): Promise<boolean> {
  const { scanId, libraryId } = scan
  return await sql.begin(async tx => {
    // The jobs of a canceled scan are deleted; its files are left to the next one.
    const [running] = await tx`
      select 1 from scan where id = ${scanId} and state = 'running' for no key update`
    if (!running) return false
    const abandoned = await retryPending(tx, queue, scan)
    if (abandoned > 0)
      log.error(
        { libraryId, scanId, files: abandoned },
        'files could not be stored: their jobs failed twice',
      )
    return true
  })
}

async function finish(sql: Sql, scanId: string, state: string, message: string | null) {
  await sql.begin(async tx => {
    const { count } = await tx`
      update scan
      set state = ${state}, message = ${message}, indexed_at = now(), finished_at = now(),
        started_at = coalesce(started_at, now())
      where id = ${scanId} and state in ('queued', 'running')`
    if (count > 0) await publishScan(tx, scanId, { force: true })
  })
}

async function storeMessage(sql: Sql, scanId: string, message: string) {
  await sql.begin(async tx => {
    const { count } = await tx`
      update scan set message = ${message}
      where id = ${scanId} and state in ('queued', 'running') and message is distinct from ${message}`
    if (count > 0) await publishScan(tx, scanId, { force: true })
  })
}
