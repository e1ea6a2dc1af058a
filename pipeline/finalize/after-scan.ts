// Jobs that follow a scan: matching with metadata sources, the duplicate search, the purge of missing books.
import { enqueueAfterScan } from '../../lib/match/match-queue.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { fetchSetting } from '../../lib/store/setting/setting.ts'
import type { LoadedScan } from '../scan/scan-context.ts'

/** Enqueues the duplicate search after a scan that changed anything, unless it is disabled. */
export async function enqueueDedupe(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  const { scanId, libraryId } = scan
  const [row] = await sql<{ hasChanges: boolean }[]>`
    select to_index + added + changed + moved + restored + missing > 0 as "hasChanges"
    from scan where id = ${scanId}`
  if (!row?.hasChanges || !(await fetchSetting(sql, 'deduplication.enabled'))) return
  // After a scan requested by watching there is no hurry, and the next file may follow soon.
  const afterSeconds = scan.options.quietMs === undefined ? 1 : 30
  await queue.send(sql, 'dedupe', [{ libraryId }], { key: 'all', afterSeconds })
}

/** Enqueues matching the library with metadata sources, if enabled. */
export async function enqueueMatching(sql: Sql, queue: Queue, { libraryId }: LoadedScan) {
  if (await fetchSetting(sql, 'plugins.post_scan_auto_match_enabled'))
    await enqueueAfterScan(sql, queue, libraryId)
}

/**
 * Enqueues the purge of missing books after a complete scan, if the library is configured for it. A scan that
 * skipped recently modified files purges nothing: a missing book may have been moved to one of them.
 */
export async function enqueuePurge(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  if (scan.paths.length > 0 || scan.options.analysis) return
  const { libraryId } = scan
  const [library] = await sql`
    select 1 from library
    where id = ${libraryId} and missing_count > 0
      and scanning_config->>'purgeDeletedOnScan' = 'true'
      and not exists (select from scan where id = ${scan.scanId} and options ? 'leftOut')`
  if (library) await queue.send(sql, 'purge', [{ libraryId }], { key: libraryId })
}
