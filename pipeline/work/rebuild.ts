// Makes the queue anew from the catalogue: whatever is to be done can be told from it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { resumeErasing } from '../../lib/catalog/library/library-erase.ts'
import { Conflict } from '../../lib/errors.ts'
import { openSession } from '../../lib/postgres/db.ts'
import { jobNames } from '../../lib/queue/jobs.ts'
import { openQueue } from '../../lib/queue/queue.ts'
import { workInvariants } from '../doctor/work.ts'

const patienceMs = 3_000

/** Waiting jobs of the new queue by name; those of a scan that is called off wait for the next one. */
export type Rebuilt = Record<string, number>

/**
 * Drops the queue with all it held, history too, and queues what is due: scans that wait or were
 * running, files to read, covers, hashes, libraries to erase, the search for duplicates. Throws
 * Conflict while a process works.
 */
export async function rebuildQueue(sql: Sql, onError: (error: Error) => void): Promise<Rebuilt> {
  const session = openSession(sql)
  try {
    if (!(await isAlone(session.sql)))
      throw new Conflict('Stop `serve` and `worker` first: the queue is rebuilt while nobody works')
    await sql`drop schema if exists pgboss cascade`
    const queue = await openQueue(sql, onError)
    try {
      const libraries = await sql<{ id: string }[]>`
        select id from library where deleting_at is null order by id`
      const ids = libraries.map(library => library.id)
      const scope = { sql, queue, thumbnails: '', libraries: ids, isQuiet: true, hasQueue: true }
      for (const { repair } of workInvariants) await repair?.(scope)
      await resumeErasing(sql, queue)
      await queue.send(sql, 'dedupe', [{}], { key: 'all' })
      return await waiting(sql)
    } finally {
      await queue.close()
    }
  } finally {
    await session.close()
  }
}

/** Connections of a process that was killed end a little later than itself. */
async function isAlone(sql: Sql): Promise<boolean> {
  for (const end = performance.now() + patienceMs; ; await sleep(100)) {
    const [row] = await sql<{ alone: boolean }[]>`
      select pg_try_advisory_lock(hashtext('stackroom.workers')) as alone`
    if (row!.alone || performance.now() > end) return row!.alone
  }
}

async function waiting(sql: Sql): Promise<Rebuilt> {
  const rows = await sql<{ name: string; count: number }[]>`
    select name, count(*) as count from pgboss.job where state < 'active' group by name`
  const counts = new Map(rows.map(row => [row.name, row.count]))
  return Object.fromEntries(jobNames.map(name => [name, counts.get(name) ?? 0]))
}
