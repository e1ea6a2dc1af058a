// Work to be done against the queue: what is due has a job, even after the queue was lost.

import type { Fragment } from 'postgres'
import { enqueueScanJob, isScan, requestScan } from '../../lib/catalog/scan/scan-request.ts'
import { atWork, type DueLane, due, enqueueLane } from '../work/due.ts'
import { broken, type Invariant, naming, type Scope } from './invariant.ts'

// A scan that waits or runs takes over whatever it finds there.
const idle = (scope: Scope) => scope.sql`
  select f.library_id as "libraryId", f.name as place, f.id as note
  from found f
  where f.library_id = any(${scope.libraries})
    and not exists (
      select from scan where library_id = f.library_id and state in ('queued', 'running'))
    and not exists (select from (${atWork(scope, 'index')}) w where w.id = f.id::text)
    and ${isWanted(scope, scope.sql`f.library_id`)}`

const lacking = (scope: Scope, lane: DueLane) => scope.sql`
  select ${naming(scope.sql)}
  from (${due(scope, lane)}) x
  join book b on b.id = x.id
  join directory d on d.id = b.directory_id
  where ${isWanted(scope, scope.sql`b.library_id`)}`

// What a scan left that was called off is the business of the next one.
function isWanted({ sql }: Scope, libraryId: Fragment) {
  return sql`not exists (
    select from scan c
    where c.library_id = ${libraryId} and c.state = 'cancelled' and not exists (
      select from scan
      where library_id = c.library_id and created_at > c.created_at and state <> 'cancelled'
        and ${isScan(sql)}))`
}

const orphaned = ({ sql, libraries, hasQueue }: Scope) => sql`
  select s.id, s.library_id as "libraryId", not ${isScan(sql)} as analysis, s.state || ' scan ' || s.id as note
  from scan s
  where s.library_id = any(${libraries}) and s.state in ('queued', 'running')
    ${
      hasQueue
        ? sql`and not exists (
            select from pgboss.job
            where name in ('scan', 'analyze') and state < 'completed'
              and data->>'libraryId' = s.library_id::text and data->>'scanId' = s.id::text)`
        : sql``
    }`

export const workInvariants: Invariant[] = [
  {
    name: 'files to read',
    sentence: 'Every new or changed file has a job that reads it, or a scan that makes one.',
    look: broken(idle),
    // A scan and no jobs alone, because it also settles the series when the files are read.
    repair: async scope => {
      const rows = await scope.sql<{ libraryId: string }[]>`
        select distinct "libraryId" from (${idle(scope)}) f`
      for (const { libraryId } of rows) {
        await requestScan(scope.sql, scope.queue!, { libraryId, mode: 'normal' })
      }
    },
  },
  {
    name: 'covers',
    sentence: 'Every book that can have a cover has one, or a job that makes it.',
    look: broken(scope => lacking(scope, 'cover')),
    repair: scope => enqueue(scope, 'cover'),
  },
  {
    name: 'hashes',
    sentence: "Every book that its library's policy hashes has a hash, or a job that makes it.",
    look: broken(scope => lacking(scope, 'hash')),
    repair: scope => enqueue(scope, 'hash'),
  },
  {
    name: 'scans',
    sentence: 'Every scan that waits or runs has its job.',
    look: broken(orphaned),
    repair: async scope => {
      const { sql, queue } = scope
      const rows = await sql<{ id: string; libraryId: string; analysis: boolean }[]>`
        ${orphaned(scope)}`
      for (const { id: scanId, libraryId, analysis } of rows)
        await enqueueScanJob(sql, queue!, { scanId, libraryId, analysis })
    },
  },
]

/** The jobs count for the library's last scan. */
async function enqueue(scope: Scope, lane: DueLane) {
  const scans = new Map<string, string>()
  await enqueueLane(scope, scope.queue!, lane, async libraryId => {
    const scanId = scans.get(libraryId) ?? (await lastScan(scope, libraryId))
    scans.set(libraryId, scanId)
    return scanId
  })
}

async function lastScan({ sql, queue }: Scope, libraryId: string) {
  const [row] = await sql<{ id: string }[]>`
    select id from scan where library_id = ${libraryId} order by created_at desc limit 1`
  return row?.id ?? (await requestScan(sql, queue!, { libraryId, mode: 'normal' }))
}
