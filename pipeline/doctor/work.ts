// Invariants of pending work and the queue: everything due has a job, even after the queue was lost.
import type { Fragment } from 'postgres'
import { enqueueScanJob, isScan, requestScan } from '../../lib/catalog/scan/scan-request.ts'
import { futureJobs, resetFutureJobs } from '../../lib/store/queue/clock.ts'
import { hasScanJobs } from '../../lib/store/queue/select-jobs.ts'
import { type DueJob, enqueueDueJobs, selectDue, selectQueued } from '../finalize/due.ts'
import { bookPlaceColumns, type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

// An active scan takes over all pending files of its library.
const filesWithoutJob = (scope: DoctorScope) => scope.sql`
  select f.library_id as "libraryId", f.name as place, f.id as note
  from pending_file f
  where f.library_id = any(${scope.libraries})
    and not exists (
      select from scan where library_id = f.library_id and state in ('queued', 'running'))
    and not exists (select from (${selectQueued(scope, 'index')}) w where w.id = f.id::text)
    and ${isNotCanceled(scope, scope.sql`f.library_id`)}`

const booksWithoutJob = (scope: DoctorScope, job: DueJob) => scope.sql`
  select ${bookPlaceColumns(scope.sql)}
  from (${selectDue(scope, job)}) x
  join book b on b.id = x.id
  join directory d on d.id = b.directory_id
  where ${isNotCanceled(scope, scope.sql`b.library_id`)}`

// The next scan takes over what a canceled one left.
function isNotCanceled({ sql }: DoctorScope, libraryId: Fragment) {
  return sql`not exists (
    select from scan c
    where c.library_id = ${libraryId} and c.state = 'cancelled' and not exists (
      select from scan
      where library_id = c.library_id and number > c.number and state <> 'cancelled'
        and ${isScan(sql)}))`
}

const scansWithoutJob = ({ sql, libraries, hasQueue }: DoctorScope) => {
  const hasJob = hasQueue
    ? hasScanJobs(sql, ['scan', 'analyze'], { libraryId: sql`s.library_id`, scanId: sql`s.id` })
    : sql`false`
  return sql`
    select s.id, s.library_id as "libraryId", not ${isScan(sql)} as analysis, s.state || ' scan ' || s.id as note
    from scan s
    where s.library_id = any(${libraries}) and s.state in ('queued', 'running') and not ${hasJob}`
}

export const workInvariants: Invariant[] = [
  {
    name: 'pending files',
    description: 'Every pending file has a job that reads it, or a scan that enqueues one.',
    check: violationQuery(filesWithoutJob),
    // A scan rather than just jobs, because it also finalizes the series once the files are read.
    repair: async scope => {
      const rows = await scope.sql<{ libraryId: string }[]>`
        select distinct "libraryId" from (${filesWithoutJob(scope)}) f`
      for (const { libraryId } of rows)
        await requestScan(scope.sql, scope.queue!, { libraryId, mode: 'normal' })
    },
  },
  {
    name: 'covers',
    description: 'Every book that can have a cover has one, or a job that generates it.',
    check: violationQuery(scope => booksWithoutJob(scope, 'cover')),
    repair: scope => enqueueForLastScan(scope, 'cover'),
  },
  {
    name: 'hashes',
    description:
      'Every book that the hash policy of its library covers has a hash, or a job that computes it.',
    check: violationQuery(scope => booksWithoutJob(scope, 'hash')),
    repair: scope => enqueueForLastScan(scope, 'hash'),
  },
  {
    name: 'scans',
    description: 'Every queued or running scan has a job.',
    check: violationQuery(scansWithoutJob),
    repair: async scope => {
      const { sql, queue } = scope
      const rows = await sql<{ id: string; libraryId: string; analysis: boolean }[]>`
        ${scansWithoutJob(scope)}`
      for (const { id: scanId, libraryId, analysis } of rows)
        await enqueueScanJob(sql, queue!, { scanId, libraryId, analysis })
    },
  },
  {
    name: 'times of jobs',
    description: 'No job has times in the future, as happens when the clock is set back.',
    check: violationQuery(({ sql, hasQueue }) =>
      hasQueue
        ? sql`select name || ' ' || id as note from ${futureJobs(sql)} j`
        : sql`select '' as note where false`,
    ),
    repair: async ({ sql }) => void (await resetFutureJobs(sql)),
  },
]

/** The jobs count toward the last scan of each library. */
async function enqueueForLastScan(scope: DoctorScope, job: DueJob) {
  const scans = new Map<string, string>()
  await enqueueDueJobs(scope, scope.queue!, job, async libraryId => {
    const scanId = scans.get(libraryId) ?? (await lastScan(scope, libraryId))
    scans.set(libraryId, scanId)
    return scanId
  })
}

async function lastScan({ sql, queue }: DoctorScope, libraryId: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select id from scan where library_id = ${libraryId} order by number desc limit 1`
  return row?.id ?? (await requestScan(sql, queue!, { libraryId, mode: 'normal' }))
}
