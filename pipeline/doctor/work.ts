// Work to be done against the queue: what is due has a job, even after the queue was lost.
import type { PendingQuery, Row } from 'postgres'
import { jobsOf } from '../plan.ts'
import { requestScan } from '../scan.ts'
import { atWork, broken, type Invariant, naming, type Scope } from './invariant.ts'

// A scan that waits or runs takes over whatever it finds there.
const idle = (scope: Scope) => scope.sql`
  select f.library_id as "libraryId", f.name as place, f.id as note
  from found f
  where f.library_id = any(${scope.libraries})
    and not exists (
      select from scan where library_id = f.library_id and state in ('queued', 'running'))
    and not exists (select from (${atWork(scope, 'index')}) w where w.id = f.id::text)`

// Whether an EPUB without images has a cover is known when it is made; any other needs a page.
const coverless = (scope: Scope) => scope.sql`
  select b.id::text as id, b.library_id as "libraryId", ${naming(scope.sql)}
  from book b
  join directory d on d.id = b.directory_id
  where b.library_id = any(${scope.libraries}) and b.missing_at is null and b.error_code is null
    and b.cover is null and b.cover_error is null
    and (b.page_count > 0 or b.format = 'epub')
    and not exists (select from (${atWork(scope, 'cover')}) w where w.id = b.id::text)`

// A file that could not be read to its end is read again by the next scan, and hashed then.
const hashless = (scope: Scope) => scope.sql`
  select b.id::text as id, b.library_id as "libraryId", ${naming(scope.sql)}
  from book b
  join directory d on d.id = b.directory_id
  join library l on l.id = b.library_id
  where b.library_id = any(${scope.libraries}) and b.missing_at is null
    and b.sha256 is null and b.fingerprint is not null
    and coalesce(b.error_code, '') not in ('io', 'memory', 'timeout')
    and (l.hash_policy = 'full' or l.hash_policy = 'candidates' and exists (
      select from book t
      where t.size = b.size and t.fingerprint = b.fingerprint and t.id <> b.id
        and t.missing_at is null))
    and not exists (select from (${atWork(scope, 'hash')}) w where w.id = b.id::text)`

const orphaned = ({ sql, libraries, hasQueue }: Scope) => sql`
  select s.id, s.library_id as "libraryId", s.state || ' scan ' || s.id as note
  from scan s
  where s.library_id = any(${libraries}) and s.state in ('queued', 'running')
    ${
      hasQueue
        ? sql`and not exists (
            select from pgboss.job
            where name = 'scan' and state < 'completed' and data->>'scanId' = s.id::text)`
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
    look: broken(coverless),
    repair: scope => enqueue(scope, 'cover', coverless(scope)),
  },
  {
    name: 'hashes',
    sentence: "Every book that its library's policy hashes has a hash, or a job that makes it.",
    look: broken(hashless),
    repair: scope => enqueue(scope, 'hash', hashless(scope)),
  },
  {
    name: 'scans',
    sentence: 'Every scan that waits or runs has its job.',
    look: broken(orphaned),
    repair: async scope => {
      const { sql, queue } = scope
      const rows = await sql<{ id: string; libraryId: string }[]>`${orphaned(scope)}`
      for (const { id: scanId, libraryId } of rows) {
        await queue!.send(sql, 'scan', [{ scanId, libraryId }], { key: scanId })
      }
    },
  },
]

type Due = { id: string; libraryId: string }

/** Streams what is due into jobs. They count for the library's last scan. */
async function enqueue(scope: Scope, lane: 'cover' | 'hash', due: PendingQuery<Row[]>) {
  const scans = new Map<string, string>()
  const { sql, queue } = scope
  const batches = sql<Due[]>`${due} order by 2, 1`.cursor(6_400)
  for await (const rows of batches) {
    for (const [libraryId, books] of Map.groupBy(rows, row => row.libraryId)) {
      if (!scans.has(libraryId)) scans.set(libraryId, await lastScan(scope, libraryId))
      const scan = { scanId: scans.get(libraryId)!, libraryId }
      await queue!.send(
        sql,
        lane,
        jobsOf(
          scan,
          books.map(book => book.id),
        ),
      )
    }
  }
}

async function lastScan({ sql, queue }: Scope, libraryId: string) {
  const [row] = await sql<{ id: string }[]>`
    select id from scan where library_id = ${libraryId} order by created_at desc limit 1`
  return row?.id ?? (await requestScan(sql, queue!, { libraryId, mode: 'normal' }))
}
