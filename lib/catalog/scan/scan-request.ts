// Requests and cancellation of scans: rows and jobs only; the pipeline does the work.
import { Conflict, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'
import type { AnalysisSubject } from '../../store/queue/jobs.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { publishScan, publishScans } from './scan-events.ts'

export type ScanOptions = {
  /** Whether to write one record per book, for `scan --ndjson`. */
  followed?: boolean
  /** Whether to also hash page 1 of each book. */
  pageHash?: boolean
  /** Whether to mark books missing even if many files disappeared at once. */
  confirmMissing?: boolean
  /** Whether to read only pending files, without walking the disk. Not a scan in the API. */
  analysis?: boolean
  /** The subject of the analysis, unless it is the whole library. */
  subject?: AnalysisSubject
  /** Set for scans requested by watching: skips files that changed less than this many milliseconds ago. */
  quietMs?: number
  /** Result of a watch scan: the skipped paths, relative to the library, in hex. */
  leftOut?: string[]
}

export type ScanRequest = {
  libraryId: string
  mode: 'normal' | 'deep'
  /** Folders or files relative to the library; empty for all. */
  paths?: Uint8Array[]
  options?: ScanOptions
}

/** Enqueues a scan and returns its id. An older scan of the library that no process is running any more is cancelled. */
export async function requestScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  return await sql.begin(tx => enqueueScan(tx, queue, request))
}

/** Like `requestScan`, within a transaction. Throws NotFound when the library is being deleted. */
export async function enqueueScan(
  tx: Transaction,
  queue: Queue,
  { libraryId, mode, paths = [], options = {} }: ScanRequest,
): Promise<string> {
  const scanId = newId()
  const [inserted] = await tx`
    insert into scan (id, library_id, mode, paths, options)
    select ${scanId}, id, ${mode},
      ${paths.map(p => `\\x${Buffer.from(p).toString('hex')}`)}::text[]::bytea[],
      ${tx.json(options)}
    from library
    where id = ${libraryId} and deleting_at is null
    returning id`
  if (!inserted) throw new NotFound('Library not found')
  // A scan requested by watching does not supersede one requested by a user.
  if (paths.length === 0 && !options.analysis && options.quietMs === undefined)
    await supersede(tx, queue, { scanId, libraryId, mode })
  await enqueueScanJob(tx, queue, { scanId, libraryId, ...options })
  await publishScan(tx, scanId, { force: true })
  return scanId
}

type ScanJob = { scanId: string; libraryId: string } & Pick<ScanOptions, 'analysis' | 'subject'>

/** Enqueues the job of a scan under the scan's id, unless one is already waiting. */
export async function enqueueScanJob(
  tx: Queryable,
  queue: Queue,
  { scanId, libraryId, analysis, subject }: ScanJob,
): Promise<void> {
  const options = { key: scanId, ids: [scanId] }
  const scan = { scanId, libraryId }
  if (analysis) await queue.send(tx, 'analyze', [{ ...scan, ...subject }], options)
  else await queue.send(tx, 'scan', [scan], options)
}

/**
 * Enqueues a scan for a user. Throws Conflict while a scan of the library is queued or running, NotFound
 * when the library is being deleted.
 */
export async function startScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  return await sql.begin(async tx => {
    await assertNotScanning(tx, request.libraryId, { ignoreWatchScans: true })
    return await enqueueScan(tx, queue, request)
  })
}

/**
 * Throws Conflict while a scan of the library is queued or running; none starts before the transaction
 * ends. `ignoreWatchScans` ignores scans requested by watching: they are short, and the next scan waits
 * for them.
 */
export async function assertNotScanning(
  tx: Transaction,
  libraryId: string,
  { ignoreWatchScans = false } = {},
): Promise<void> {
  await tx`select from library where id = ${libraryId} for no key update`
  const [active] = await tx`
    select 1 from scan
    where library_id = ${libraryId} and state in ('queued', 'running') and ${isScan(tx)}
      and not (${ignoreWatchScans} and options ? 'quietMs')
    limit 1`
  if (active)
    throw new Conflict('A scan of this library is already queued or running', {
      reason: 'scan_active',
    })
}

/** A condition on `scan`: it walks the disk, and is a scan in the API. */
export function isScan(sql: Queryable) {
  return sql`not options @> '{"analysis": true}'`
}

/** False while a process runs a scan of the library; otherwise none begins until the transaction ends. */
export async function tryScanLock(tx: Queryable, libraryId: string): Promise<boolean> {
  const [lock] = await tx`
    select pg_try_advisory_xact_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as "isFree"`
  return lock!.isFree
}

/** Cancels earlier scans, which a full scan replaces, unless a process is running one of them. */
async function supersede(
  tx: Transaction,
  queue: Queue,
  { scanId, libraryId, mode }: Pick<ScanRequest, 'libraryId' | 'mode'> & { scanId: string },
) {
  if (!(await tryScanLock(tx, libraryId))) return
  const rows = await tx<{ id: string }[]>`
    update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
    where library_id = ${libraryId} and id <> ${scanId} and state in ('queued', 'running')
      and (mode = 'normal' or ${mode} = 'deep')
    returning id`
  const ids = rows.map(row => row.id)
  await queue.discardScanJobs(tx, libraryId, ids)
  await publishScans(tx, ids)
}

/** Cancels a queued or running scan with all its jobs. Throws Conflict when it is neither. */
export async function cancelScan(sql: Sql, queue: Queue, scanId: string): Promise<void> {
  const isCancelled = await sql.begin(tx => tryCancelScan(tx, queue, scanId))
  if (!isCancelled) throw new Conflict('The scan is not running', { reason: 'scan_not_running' })
}

/** Like `cancelScan`, within a transaction. Returns false when the scan is neither queued nor running. */
export async function tryCancelScan(tx: Transaction, queue: Queue, scanId: string) {
  const [row] = await tx<{ libraryId: string }[]>`
    update scan set state = 'cancelled', finished_at = now()
    where id = ${scanId} and state in ('queued', 'running')
    returning library_id as "libraryId"`
  if (!row) return false
  await queue.cancelScans(tx, row.libraryId, [scanId])
  await publishScan(tx, scanId, { force: true })
  return true
}

/** Cancels all queued and running scans of a library, optionally analyses too. Returns their number. */
export async function cancelScans(
  tx: Transaction,
  queue: Queue,
  { libraryId, analyses = false }: { libraryId: string; analyses?: boolean },
): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    update scan set state = 'cancelled', finished_at = now()
    where library_id = ${libraryId} and state in ('queued', 'running')
      and ${analyses ? tx`true` : isScan(tx)}
    returning id`
  const ids = rows.map(row => row.id)
  await queue.cancelScans(tx, libraryId, ids)
  await publishScans(tx, ids)
  return ids.length
}
