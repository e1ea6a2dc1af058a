// Which work follows a stored book, and how urgent it is.
import type { TransactionSql } from 'postgres'
import type { Queue } from '../../lib/queue/queue.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import type { Match } from './match.ts'

/** Most books in one job: enough that the queue costs nothing, few enough that a kill loses seconds. */
export const jobBooks = 64

/** Hashes that can make or refute a duplicate pass those that only complete the catalogue. */
const likelyDuplicate = 10

export async function enqueueCovers(
  tx: TransactionSql,
  queue: Queue,
  scan: ScanContext,
  matches: Match[],
) {
  // A file that was only looked at does not say; its book does.
  const hasCover = ({ reading, before }: Match) =>
    reading.same ? before!.pageCount > 0 || before!.format === 'epub' : reading.hasCover
  const ids = matches.filter(hasCover).map(m => m.bookId)
  await queue.send(tx, 'cover', jobsOf(scan, ids))
  return ids.length
}

/** Returns how many books were enqueued; an older twin that waits in the slow lane is asked for again in the fast one. */
export async function enqueueHashes(
  tx: TransactionSql,
  queue: Queue,
  scan: ScanContext,
  matches: Match[],
) {
  if (scan.hashPolicy === 'off' || matches.length === 0) return 0
  const mine = new Set(matches.map(m => m.bookId))
  const pairs = await tx<{ mine: string; twin: string; due: boolean }[]>`
    select b.id as mine, t.id as twin, t.sha256 is null as due
    from book b
    cross join lateral (
      select id, sha256 from book
      where size = b.size and fingerprint = b.fingerprint and id <> b.id
      limit 20
    ) t
    where b.id = any(${[...mine]})`
  const first = new Set(pairs.map(p => p.mine))
  for (const p of pairs) if (p.due) first.add(p.twin)
  const rest = [...mine].filter(id => !first.has(id))
  // In the job and not asked of the scan, because a later scan takes the jobs over.
  const again = new Set(matches.filter(m => m.found.forced).map(m => m.bookId))
  const jobs = (ids: string[]) => [
    ...jobsOf(
      scan,
      ids.filter(id => !again.has(id)),
    ),
    ...jobsOf(
      scan,
      ids.filter(id => again.has(id)),
    ).map(job => ({ ...job, again: true as const })),
  ]
  await queue.send(tx, 'hash', jobs([...first]), { priority: likelyDuplicate })
  if (scan.hashPolicy === 'candidates') return first.size
  await queue.send(tx, 'hash', jobs(rest))
  return first.size + rest.length
}

export function jobsOf(scan: { scanId: string; libraryId: string }, ids: string[]) {
  const jobs: { scanId: string; libraryId: string; ids: string[] }[] = []
  for (let i = 0; i < ids.length; i += jobBooks) {
    jobs.push({ scanId: scan.scanId, libraryId: scan.libraryId, ids: ids.slice(i, i + jobBooks) })
  }
  return jobs
}
