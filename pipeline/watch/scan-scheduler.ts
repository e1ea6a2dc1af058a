// Scan scheduler of a watched library: requests scans of changed paths, one at a time, and none while another
// scan of the library is active.
import { requestScan } from '../../lib/catalog/scan/scan-request.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { addChanges, type Changes, isEmpty, quietMs, takeDue } from './changes.ts'

const retryPauseMs = 60_000

/** `wake` wakes the workers of this process. */
export type ScanSchedulerDeps = { sql: Sql; queue: Queue; wake: () => void }

/** `paths` as in Changes; '' is the whole library. Returns the id of the scan. */
export async function requestWatchScan(
  { sql, queue, wake }: ScanSchedulerDeps,
  libraryId: string,
  paths: string[],
): Promise<string> {
  const scanId = await requestScan(sql, queue, {
    libraryId,
    mode: 'normal',
    paths: paths.includes('') ? [] : paths.map(path => Buffer.from(path, 'latin1')),
    options: { quietMs },
  })
  wake()
  return scanId
}

/** True while a scan of the library is queued or running, no matter who requested it. */
export async function isScanActive(sql: Sql, libraryId: string): Promise<boolean> {
  const [row] = await sql`
    select from scan where library_id = ${libraryId} and state in ('queued', 'running') limit 1`
  return row !== undefined
}

/** Returns a function that requests a scan of due changes; it resolves to true if it has to wait. */
export function createScanScheduler(deps: ScanSchedulerDeps, libraryId: string) {
  let requested: { scanId: string; paths: string[] } | null = null
  let pausedUntil = 0
  return async (changes: Changes): Promise<boolean> => {
    if (requested !== null) {
      const left = await leftOutPaths(deps.sql, requested.scanId)
      if (left === null) return true
      // An aborted scan is repeated after a pause: it may fail again.
      if (left === 'all') pausedUntil = performance.now() + retryPauseMs
      addChanges(changes, left === 'all' ? requested.paths : left)
      requested = null
    }
    if (performance.now() < pausedUntil) return true
    if (isEmpty(changes)) return false
    if (await isScanActive(deps.sql, libraryId)) return true
    const due = takeDue(changes)
    if (due.length === 0) return false
    try {
      requested = { scanId: await requestWatchScan(deps, libraryId, due), paths: due }
    } catch (error) {
      addChanges(changes, due)
      throw error
    }
    return true
  }
}

/**
 * Paths that a scan omitted because they were modified recently; 'all' if it was canceled or failed; null
 * while it is active. A scan of an unavailable library omits nothing: the watch notices its return.
 */
async function leftOutPaths(sql: Sql, scanId: string): Promise<string[] | 'all' | null> {
  const [row] = await sql<{ state: string; paths: string[] | null }[]>`
    select state, options->'leftOut' as paths from scan where id = ${scanId}`
  const state = row?.state ?? 'completed'
  if (state === 'queued' || state === 'running') return null
  if (state === 'cancelled' || state === 'failed') return 'all'
  return (row?.paths ?? []).map(path => Buffer.from(path, 'hex').toString('latin1'))
}
