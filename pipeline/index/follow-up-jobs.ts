// Follow-up jobs of stored books: covers and hashes, with their priority.
import { type FormatName, isReflowable } from '../../lib/media/format/formats.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { batchJobs } from '../scan/batch-jobs.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import type { Match } from './match.ts'

/** Hashes that can confirm or rule out a duplicate run before those that only complete the catalog. */
const duplicatePriority = 10

/** Returns the number of books enqueued. */
export async function enqueueCovers(
  tx: Transaction,
  queue: Queue,
  scan: ScanContext,
  matches: Match[],
): Promise<number> {
  const ids = matches.filter(hasImage).map(m => m.bookId)
  await queue.send(tx, 'cover', batchJobs(scan, ids))
  return ids.length
}

/** The reading of an unchanged file is empty; its book row is used instead. */
function hasImage({ reading, before }: Match): boolean {
  if (!reading.isUnchanged) return reading.hasCover
  return before!.pageCount > 0 || isReflowable(before!.format as FormatName | null)
}

/**
 * Returns the number of books enqueued; an older book with equal content that still waits for its hash is
 * enqueued again with priority.
 */
export async function enqueueHashes(
  tx: Transaction,
  queue: Queue,
  scan: ScanContext,
  matches: Match[],
): Promise<number> {
  if (scan.hashPolicy === 'off' || matches.length === 0) return 0
  const bookIds = new Set(matches.map(m => m.bookId))
  const pairs = await tx<{ id: string; twinId: string; isTwinDue: boolean }[]>`
    select b.id, t.id as "twinId", t.sha256 is null as "isTwinDue"
    from book b
    cross join lateral (
      select o.id, a.sha256 from book o
      join book_artifact a on a.book_id = o.id
      where o.size = b.size and o.fingerprint = b.fingerprint and o.id <> b.id
      limit 20
    ) t
    where b.id = any(${[...bookIds]})`
  const urgent = new Set(pairs.map(pair => pair.id))
  for (const pair of pairs) if (pair.isTwinDue) urgent.add(pair.twinId)
  const others = [...bookIds].filter(id => !urgent.has(id))
  // `again` is part of the job, because a later scan may take over this scan's jobs.
  const again = new Set(matches.filter(m => m.file.forced || m.before?.hasError).map(m => m.bookId))
  const jobsOf = (ids: string[]) => {
    const { first = [], repeated = [] } = Object.groupBy(ids, id =>
      again.has(id) ? 'repeated' : 'first',
    )
    const repeatedJobs = batchJobs(scan, repeated).map(job => ({ ...job, again: true as const }))
    return [...batchJobs(scan, first), ...repeatedJobs]
  }
  await queue.send(tx, 'hash', jobsOf([...urgent]), { priority: duplicatePriority })
  if (scan.hashPolicy === 'candidates') return urgent.size
  await queue.send(tx, 'hash', jobsOf(others))
  return urgent.size + others.length
}
