// Due covers and hashes without a job: jobs get lost when a mount is gone for long, a disk is full or the
// queue is lost. The end of every scan enqueues them again, and so does the doctor.
import { joinArtifact, joinLibrary } from '../../lib/catalog/book/visible-books.ts'
import { lacksCover } from '../../lib/catalog/cover/cover-on-demand.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { unfinishedJobs } from '../../lib/store/queue/select-jobs.ts'
import { batchJobs } from '../scan/batch-jobs.ts'
import { retryFailedCovers } from '../scan/failed-files.ts'
import { isFull, type LoadedScan } from '../scan/scan-context.ts'

export type DueJob = 'cover' | 'hash'
/** `hasQueue` is false while the queue's tables do not exist. */
export type DueScope = { sql: Sql; libraries: string[]; hasQueue: boolean }

const pageBooks = 6_400

/** Books that lack a cover or hash and have no job for it: columns `id` and `libraryId`. */
export function selectDue(scope: DueScope, job: DueJob) {
  const { sql, libraries } = scope
  return sql`
    select b.id, b.library_id as "libraryId"
    from book b
    ${joinArtifact(sql)}
    ${joinLibrary(sql)}
    where b.library_id = any(${libraries}) and b.missing_at is null
      and ${job === 'cover' ? lacksCover(sql) : lacksHash(sql)}
      and not exists (select from (${selectQueued(scope, job)}) w where w.id = b.id::text)`
}

// A file that could not be read completely is read again by the next scan, and hashed then.
function lacksHash(sql: Sql) {
  return sql`a.sha256 is null and b.fingerprint is not null and b.size > 0
    and coalesce(b.error_code, '') not in ('io', 'memory', 'timeout')
    and (l.hash_policy = 'full' or l.hash_policy = 'candidates' and exists (
      select from book t
      where t.size = b.size and t.fingerprint = b.fingerprint and t.id <> b.id
        and t.missing_at is null))`
}

/**
 * Ids of the books in waiting or running jobs, as text: a column `id`. Jobs of canceled scans do not count.
 */
export function selectQueued(
  { sql, hasQueue }: Pick<DueScope, 'sql' | 'hasQueue'>,
  job: DueJob | 'index',
) {
  if (!hasQueue) return sql`select null::text as id where false`
  return sql`
    select jsonb_array_elements_text(j.data->'ids') as id
    from ${unfinishedJobs(sql, [job])} j
    where not exists (
      select from scan where id = (j.data->>'scanId')::uuid and state = 'cancelled')`
}

/** Enqueues everything due in the library of a scan. Call it before the scan ends. */
export async function enqueueDue(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  const scope = { sql, libraries: [scan.libraryId], hasQueue: true }
  const scanOf = async () => scan.scanId
  if (isFull(scan)) await retryFailedCovers(sql, scan)
  await enqueueDueJobs(scope, queue, 'cover', scanOf)
  if (scan.hashPolicy !== 'off') await enqueueDueJobs(scope, queue, 'hash', scanOf)
}

/** Streams due books into jobs, which count toward the scan that `scanOf` returns for a library. */
export async function enqueueDueJobs(
  scope: DueScope,
  queue: Queue,
  job: DueJob,
  scanOf: (libraryId: string) => Promise<string>,
): Promise<void> {
  const { sql } = scope
  const pages = sql<{ id: string; libraryId: string }[]>`${selectDue(scope, job)} order by 2, 1`
  for await (const rows of pages.cursor(pageBooks)) {
    for (const [libraryId, books] of Map.groupBy(rows, row => row.libraryId)) {
      const scanId = await scanOf(libraryId)
      const ids = books.map(book => book.id)
      const column = sql(job === 'cover' ? 'to_cover' : 'to_hash')
      await sql.begin(async tx => {
        await queue.send(tx, job, batchJobs({ scanId, libraryId }, ids))
        await tx`update scan set ${column} = ${column} + ${ids.length} where id = ${scanId}`
      })
    }
  }
}
