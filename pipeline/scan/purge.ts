// The missing books of a library, erased after a full scan where the library asks for it.
import type { Sql } from 'postgres'
import type { Queue } from '../../lib/queue/queue.ts'
import type { LoadedScan } from './scan-context.ts'

/**
 * Call it when a scan has ended well: one that braked, or looked at a part only, erases nothing. Nor
 * does one that left out young files: what is missing may be one of them, at its new place.
 */
export async function purgeAfterScan(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  if (scan.paths.length > 0 || scan.options.analysis) return
  const { libraryId } = scan
  const [asked] = await sql`
    select 1 from library
    where id = ${libraryId} and missing_count > 0
      and scanning_config->>'purgeDeletedOnScan' = 'true'
      and not exists (select from scan where id = ${scan.scanId} and options ? 'leftOut')`
  if (asked) await queue.send(sql, 'purge', [{ libraryId }], { key: libraryId })
}
