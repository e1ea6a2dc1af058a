// Pending files of a library (table pending_file): files that were discovered but not yet indexed. A scan
// takes over those of earlier scans, and gives up those that cannot be stored.

import { hostName } from '../../lib/base/host.ts'
import { publishScans } from '../../lib/catalog/scan/scan-events.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { hasScanJobs } from '../../lib/store/queue/select-jobs.ts'
import { batchJobs, singleThreadJobs } from './batch-jobs.ts'
import { discardMissingCandidates } from './differences.ts'
import { findChanged, retryFailedFiles } from './failed-files.ts'
import { isFull, type LoadedScan } from './scan-context.ts'

const pageSize = 6_400
const maxAttempts = 2

/**
 * Starts a scan: takes over unfinished work of earlier scans and retries files that were unreadable. Returns
 * false if the scan has just been canceled.
 */
export async function takeOver(sql: Sql, queue: Queue, scan: LoadedScan): Promise<boolean> {
  const filled = isFull(scan) ? await findChanged(sql, scan) : []
  return await sql.begin(async tx => {
    const { count } = await tx`
      update scan
      set state = 'running', started_at = coalesce(started_at, now()), found = 0, to_index = 0,
        discovered_at = null, message = null, host = ${hostName}, pid = ${process.pid}
      where id = ${scan.scanId} and state in ('queued', 'running')`
    if (count === 0) return false
    const superseded = await tx<{ id: string }[]>`
      update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
      where library_id = ${scan.libraryId} and id <> ${scan.scanId} and state = 'running'
        and (options @> '{"analysis": true}' or ${isFull(scan)} and (mode = 'normal' or ${scan.deep}))
      returning id`
    await deleteOldRecords(tx, scan)
    await discardMissingCandidates(tx, scan.libraryId)
    await retryFailedFiles(tx, scan, filled)
    await queue.deleteWaiting(tx, 'index', scan.libraryId)
    const relieved = await queue.reassignToScan(tx, scan.libraryId, scan.scanId)
    const files = await enqueuePending(tx, queue, scan)
    if (files > 0)
      await tx`update scan set to_index = to_index + ${files} where id = ${scan.scanId}`
    const changed = new Set([...superseded.map(row => row.id), ...relieved, scan.scanId])
    await publishScans(tx, [...changed])
    return true
  })
}

/** Records of earlier scans no longer have a reader, unless jobs of the scan continue. */
async function deleteOldRecords(tx: Transaction, { scanId, libraryId }: LoadedScan) {
  const hasJobs = hasScanJobs(tx, ['cover', 'hash'], {
    libraryId: tx`${libraryId}`,
    scanId: tx`s.id`,
  })
  await tx`
    delete from scan_record r
    using scan s
    where s.id = r.scan_id and s.library_id = ${libraryId} and s.id <> ${scanId} and not ${hasJobs}`
}

/** Enqueues index jobs for all pending files of the library. Returns their number. */
async function enqueuePending(tx: Transaction, queue: Queue, scan: LoadedScan): Promise<number> {
  await tx`update pending_file set attempts = 1 where library_id = ${scan.libraryId} and attempts <> 1`
  return await enqueueAttempts(tx, queue, scan, 1)
}

/**
 * Enqueues the files whose number of attempts, including this one, is `attempts`: one per job from the second
 * attempt on.
 */
async function enqueueAttempts(tx: Transaction, queue: Queue, scan: LoadedScan, attempts: number) {
  let files = 0
  for (let last = '0'; ; ) {
    const rows = await tx<{ id: string }[]>`
      select id::text from pending_file
      where library_id = ${scan.libraryId} and id > ${last} and attempts = ${attempts}
      order by id
      limit ${pageSize}`
    if (rows.length === 0) return files
    const ids = rows.map(row => row.id)
    const jobs = attempts > 1 ? batchJobs(scan, ids, 1) : singleThreadJobs(scan, ids)
    await queue.send(tx, 'index', jobs)
    files += ids.length
    last = ids.at(-1)!
  }
}

/**
 * Enqueues the pending files without a job: those requested while the scan runs, and those whose job gave up,
 * for a second and last time. Abandons files given up twice and returns their number. Call it when the
 * library has no index jobs.
 */
export async function retryPending(tx: Transaction, queue: Queue, scan: LoadedScan) {
  const abandoned = await abandonPending(tx, scan)
  await tx`update pending_file set attempts = attempts + 1 where library_id = ${scan.libraryId}`
  const requested = await enqueueAttempts(tx, queue, scan, 1)
  await enqueueAttempts(tx, queue, scan, maxAttempts)
  if (requested > 0)
    await tx`update scan set to_index = to_index + ${requested} where id = ${scan.scanId}`
  return abandoned
}

/**
 * Gives up files that no attempt could store: they count as failed, and the next scan compares them again.
 */
async function abandonPending(tx: Transaction, scan: LoadedScan): Promise<number> {
  const [row] = await tx<{ files: number }[]>`
    with dropped as (
      delete from pending_file
      where library_id = ${scan.libraryId} and attempts >= ${maxAttempts}
      returning directory_id
    ), forgotten as (
      update directory set digest = null where id in (select directory_id from dropped)
    )
    update scan
    set failed = failed || jsonb_build_object('internal',
      coalesce((failed->>'internal')::integer, 0) + (select count(*) from dropped))
    where id = ${scan.scanId} and exists (select from dropped)
    returning (select count(*)::integer from dropped) as files`
  return row?.files ?? 0
}
