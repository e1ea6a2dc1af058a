// Asking for scans, and calling them off: rows and jobs only; the pipeline does the work.
import type { Sql, TransactionSql } from 'postgres'
import { Conflict, NotFound } from '../../errors.ts'
import { newId } from '../../id.ts'
import type { Queue } from '../../jobs.ts'

export type ScanOptions = {
  /** Records for `scan --ndjson`. */
  followed?: boolean
  /** Hash of page 1. */
  pageHash?: boolean
  /** No brake when much is gone. */
  confirmMissing?: boolean
  /** Reads what stands in `found` and does not look at the disk for more. No scan to users. */
  analysis?: boolean
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
  if (paths.length === 0 && !options.analysis) await supersede(tx, scanId, { libraryId, mode })
  await queue.send(tx, 'scan', [{ scanId, libraryId }], { key: scanId })
  return scanId
}

/**
 * Enqueues a scan for a user. Throws Conflict while one of the library waits or runs, NotFound when the
 * library is gone.
 */
export async function startScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  return await sql.begin(async tx => {
    await refuseWhileScanned(tx, request.libraryId)
    return await enqueueScan(tx, queue, request)
  })
}

/** Throws Conflict while a scan of the library waits or runs; none begins before the transaction ends. */
export async function refuseWhileScanned(tx: TransactionSql, libraryId: string): Promise<void> {
  await tx`select from library where id = ${libraryId} for no key update`
  const [active] = await tx`
    select 1 from scan
    where library_id = ${libraryId} and state in ('queued', 'running') and ${isScan(tx)}
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
  scanId: string,
  { libraryId, mode }: Pick<ScanRequest, 'libraryId' | 'mode'>,
) {
  const [lock] = await tx`
    select pg_try_advisory_xact_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as free`
  if (!lock!.free) return
  await tx`
    update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
    where library_id = ${libraryId} and id <> ${scanId} and state in ('queued', 'running')
      and (mode = 'normal' or ${mode} = 'deep')`
}

/** Cancels a queued or running scan: its waiting jobs go, those at work stop at their next slice. Throws Conflict. */
export async function cancelScan(sql: Sql, queue: Queue, scanId: string): Promise<void> {
  await sql.begin(async tx => {
    const [row] = await tx<{ libraryId: string }[]>`
      update scan set state = 'cancelled', finished_at = now()
      where id = ${scanId} and state in ('queued', 'running')
      returning library_id as "libraryId"`
    if (!row) throw new Conflict('The scan is not running')
    await queue.withdraw(tx, 'index', row.libraryId)
  })
}

/** Cancels all scans of a library that wait or run, analyses too if asked; answers how many. */
export async function cancelScans(
  tx: TransactionSql,
  queue: Queue,
  { libraryId, analyses = false }: { libraryId: string; analyses?: boolean },
): Promise<number> {
  const rows = await tx`
    update scan set state = 'cancelled', finished_at = now()
    where library_id = ${libraryId} and state in ('queued', 'running')
      and ${analyses ? tx`true` : isScan(tx)}
    returning id`
  if (rows.length > 0) await queue.withdraw(tx, 'index', libraryId)
  return rows.length
}
