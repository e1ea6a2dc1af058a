// What covers and hashes are due and have no job: a lane may lose its work to a mount that was away, a
// full disk or a lost queue. The end of every scan asks for it again, and so does the doctor.
import type { Sql } from 'postgres'
import { wantsCover } from '../../lib/catalog/cover/missing-cover.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import { jobsOf } from '../index/follow-up-jobs.ts'
import type { LoadedScan } from '../scan/scan-context.ts'

export type DueLane = 'cover' | 'hash'
/** `hasQueue` is false when the queue's tables do not exist yet. */
export type DueScope = { sql: Sql; libraries: string[]; hasQueue: boolean }

const pageBooks = 6_400

/** Ids and libraries of the books that a lane owes something and has no job for: columns `id`, `libraryId`. */
export function due(scope: DueScope, lane: DueLane) {
  const { sql, libraries } = scope
  return sql`
    select b.id, b.library_id as "libraryId"
    from book b
    join library l on l.id = b.library_id
    where b.library_id = any(${libraries}) and b.missing_at is null
      and ${lane === 'cover' ? wantsCover(sql) : wantsHash(sql)}
      and not exists (select from (${atWork(scope, lane)}) w where w.id = b.id::text)`
}

// A file that could not be read to its end is read again by the next scan, and hashed then.
function wantsHash(sql: Sql) {
  return sql`b.sha256 is null and b.fingerprint is not null
    and coalesce(b.error_code, '') not in ('io', 'memory', 'timeout')
    and (l.hash_policy = 'full' or l.hash_policy = 'candidates' and exists (
      select from book t
      where t.size = b.size and t.fingerprint = b.fingerprint and t.id <> b.id
        and t.missing_at is null))`
}

/** The books that waiting or running jobs of a lane hold, and will do: a column `id`. */
export function atWork(
  { sql, hasQueue }: Pick<DueScope, 'sql' | 'hasQueue'>,
  lane: DueLane | 'index',
) {
  if (!hasQueue) return sql`select null::text as id where false`
  return sql`
    select jsonb_array_elements_text(data->'ids') as id
    from pgboss.job j
    where name = ${lane} and state < 'completed'
      -- What a scan asked for that was called off is not done.
      and not exists (
        select from scan where id = (j.data->>'scanId')::uuid and state = 'cancelled')`
}

/** Asks for everything of the scan's library that is due. Call it before the scan ends. */
export async function enqueueDue(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  const scope = { sql, libraries: [scan.libraryId], hasQueue: true }
  const scanOf = async () => scan.scanId
  await enqueueLane(scope, queue, 'cover', scanOf)
  if (scan.hashPolicy !== 'off') await enqueueLane(scope, queue, 'hash', scanOf)
}

/** Streams what is due into jobs, which count for the scan that `scanOf` names for a library. */
export async function enqueueLane(
  scope: DueScope,
  queue: Queue,
  lane: DueLane,
  scanOf: (libraryId: string) => Promise<string>,
): Promise<void> {
  const { sql } = scope
  const pages = sql<{ id: string; libraryId: string }[]>`${due(scope, lane)} order by 2, 1`
  for await (const rows of pages.cursor(pageBooks)) {
    for (const [libraryId, books] of Map.groupBy(rows, row => row.libraryId)) {
      const scanId = await scanOf(libraryId)
      const ids = books.map(book => book.id)
      const column = sql(lane === 'cover' ? 'to_cover' : 'to_hash')
      await sql.begin(async tx => {
        await queue.send(tx, lane, jobsOf({ scanId, libraryId }, ids))
        await tx`update scan set ${column} = ${column} + ${ids.length} where id = ${scanId}`
      })
    }
  }
}
