// Asking for scans, and calling them off: rows and jobs only; the pipeline does the work.
import type { Sql, TransactionSql } from 'postgres'
import { Conflict, NotFound } from '../../errors.ts'
import { newId } from '../../id.ts'
import type { Queue } from '../../queue/queue.ts'
import { tellScan, tellScans } from './scan-events.ts'

export type ScanOptions = {
  /** Records for `scan --ndjson`. */
  followed?: boolean
  /** Hash of page 1. */
  pageHash?: boolean
  /** No brake when much is gone. */
  confirmMissing?: boolean
  /** Reads what stands in `found` and does not look at the disk for more. No scan to users. */
  analysis?: boolean
  /** Asked for by nobody: leaves out files that changed less than so many milliseconds ago. */
  quietMs?: number
  /** Said by such a scan: what it left out, library-relative, hex. */
  leftOut?: string[]
}

export type ScanRequest = {
  libraryId: string
  mode: 'normal' | 'deep'
  /** Library-relative folders or files; empty for all. */
  paths?: Uint8Array[]
  options?: ScanOptions
}

/** Enqueues a scan and returns its id. An older scan of the library that no process runs any more is closed. */
export async function requestScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  return await sql.begin(tx => enqueueScan(tx, queue, request))
}

/** The same within a transaction. Throws NotFound when the library is being removed. */
export async function enqueueScan(
  tx: TransactionSql,
  queue: Queue,
  { libraryId, mode, paths = [], options = {} }: ScanRequest,
): Promise<string> {
  const scanId = newId()
  const [made] = await tx`
    insert into scan (id, library_id, mode, paths, options)
    select ${scanId}, id, ${mode},
      ${paths.map(p => `\\x${Buffer.from(p).toString('hex')}`)}::text[]::bytea[],
      ${tx.json(options)}
    from library
    where id = ${libraryId} and deleting_at is null
    returning id`
  if (!made) throw new NotFound('Library not found')
  // One that nobody asked for does not end what somebody did.
  if (paths.length === 0 && !options.analysis && options.quietMs === undefined)
    await supersede(tx, queue, { scanId, libraryId, mode })
  await enqueueScanJob(tx, queue, { scanId, libraryId, analysis: options.analysis === true })
  await tellScan(tx, scanId, { force: true })
  return scanId
}

type ScanJob = { scanId: string; libraryId: string; analysis: boolean }

/** The job of a scan that waits or runs; it has the id of the scan. None is made beside one that waits. */
export async function enqueueScanJob(
  tx: Sql | TransactionSql,
  queue: Queue,
  { scanId, libraryId, analysis }: ScanJob,
): Promise<void> {
  const name = analysis ? 'analyze' : 'scan'
  await queue.send(tx, name, [{ scanId, libraryId }], { key: scanId, ids: [scanId] })
}

/**
 * Enqueues a scan for a user. Throws Conflict while one of the library waits or runs, NotFound when the
 * library is gone.
 */
export async function startScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  return await sql.begin(async tx => {
    await refuseWhileScanned(tx, request.libraryId, { butWatching: true })
    return await enqueueScan(tx, queue, request)
  })
}

/**
 * Throws Conflict while a scan of the library waits or runs; none begins before the transaction ends.
 * `butWatching` lets those pass that nobody asked for: they are short, and the next one waits for them.
 */
export async function refuseWhileScanned(
  tx: TransactionSql,
  libraryId: string,
  { butWatching = false } = {},
): Promise<void> {
  await tx`select from library where id = ${libraryId} for no key update`
  const [active] = await tx`
    select 1 from scan
    where library_id = ${libraryId} and state in ('queued', 'running') and ${isScan(tx)}
      and not (${butWatching} and options ? 'quietMs')
    limit 1`
  if (active) throw new Conflict('A scan of this library waits or runs already')
}

/** A condition on `scan`: it looks at the disk, and is shown to users as a scan. */
export function isScan(sql: Sql | TransactionSql) {
  return sql`not options @> '{"analysis": true}'`
}

/** A full scan does all that earlier ones left undone, unless a process is at one of them. */
async function supersede(
  tx: TransactionSql,
  queue: Queue,
  { scanId, libraryId, mode }: Pick<ScanRequest, 'libraryId' | 'mode'> & { scanId: string },
) {
  const [lock] = await tx`
    select pg_try_advisory_xact_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as free`
  if (!lock!.free) return
  const rows = await tx<{ id: string }[]>`
    update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
    where library_id = ${libraryId} and id <> ${scanId} and state in ('queued', 'running')
      and (mode = 'normal' or ${mode} = 'deep')
    returning id`
  const ids = rows.map(row => row.id)
  await queue.dropScanJobs(tx, libraryId, ids)
  await tellScans(tx, ids)
}

/** Cancels a queued or running scan with all its work. Throws Conflict when it does neither. */
export async function cancelScan(sql: Sql, queue: Queue, scanId: string): Promise<void> {
  const wasCalledOff = await sql.begin(tx => callOffScan(tx, queue, scanId))
  if (!wasCalledOff) throw new Conflict('The scan is not running')
}

/** The same within a transaction; answers whether there was anything to call off. */
export async function callOffScan(
  tx: TransactionSql,
  queue: Queue,
  scanId: string,
): Promise<boolean> {
  const [row] = await tx<{ libraryId: string }[]>`
    update scan set state = 'cancelled', finished_at = now()
    where id = ${scanId} and state in ('queued', 'running')
    returning library_id as "libraryId"`
  if (!row) return false
  await queue.callOffScans(tx, row.libraryId, [scanId])
  await tellScan(tx, scanId, { force: true })
  return true
}

/** Cancels all scans of a library that wait or run, analyses too if asked; answers how many. */
export async function cancelScans(
  tx: TransactionSql,
  queue: Queue,
  { libraryId, analyses = false }: { libraryId: string; analyses?: boolean },
): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    update scan set state = 'cancelled', finished_at = now()
    where library_id = ${libraryId} and state in ('queued', 'running')
      and ${analyses ? tx`true` : isScan(tx)}
    returning id`
  const ids = rows.map(row => row.id)
  await queue.callOffScans(tx, libraryId, ids)
  await tellScans(tx, ids)
  return ids.length
}
