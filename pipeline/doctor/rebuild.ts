// Rebuilds the job queue from the catalog, which records all pending work.
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict } from '../../lib/base/errors.ts'
import { resumeErase } from '../../lib/catalog/library/library-erase.ts'
import { openDedicatedConnection, type Sql } from '../../lib/store/postgres/db.ts'
import type { JobName } from '../../lib/store/queue/jobs.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { countWaiting, dropQueue } from '../../lib/store/queue/select-jobs.ts'
import { resetLostCovers } from './covers.ts'
import { workInvariants } from './work.ts'

const lockTimeoutMs = 3_000

/** Waiting jobs in the new queue by name. Jobs of a canceled scan are left to the next scan. */
export type WaitingJobCounts = Record<JobName, number>

/**
 * Deletes the queue with its history and enqueues everything that is due: queued and running scans, files to
 * read, covers, hashes, libraries to erase, the duplicate search; with `thumbnails`, the folder of covers, also those
 * whose files are not there. Throws Conflict while a worker process is running.
 */
export async function rebuildQueue(
  sql: Sql,
  onError: (error: Error) => void,
  { thumbnails = null }: { thumbnails?: string | null } = {},
): Promise<WaitingJobCounts> {
  const session = openDedicatedConnection(sql)
  try {
    if (!(await isAlone(session.sql)))
      throw new Conflict(
        'Stop `serve` and `worker` first: the queue can only be rebuilt while no process uses it',
      )
    await dropQueue(sql)
    const queue = await openQueue(sql, onError)
    try {
      const libraries = await sql<{ id: string }[]>`
        select id from library where deleting_at is null order by id`
      const ids = libraries.map(library => library.id)
      const scope = { sql, queue, libraries: ids, isQuiet: true, hasQueue: true }
      if (thumbnails !== null) await resetLostCovers({ ...scope, thumbnails })
      for (const { repair } of workInvariants)
        await repair?.({ ...scope, thumbnails: thumbnails ?? '' })
      await resumeErase(sql, queue)
      await queue.send(sql, 'dedupe', [{}], { key: 'all' })
      return await countWaiting(sql)
    } finally {
      await queue.close()
    }
  } finally {
    await session.close()
  }
}

/** Waits briefly, because the connections of a killed process end a little later than the process. */
async function isAlone(sql: Sql): Promise<boolean> {
  for (const end = performance.now() + lockTimeoutMs; ; await sleep(100)) {
    const [row] = await sql<{ isAlone: boolean }[]>`
      select pg_try_advisory_lock(hashtext('stackroom.workers')) as "isAlone"`
    if (row!.isAlone || performance.now() > end) return row!.isAlone
  }
}
