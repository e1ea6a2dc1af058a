// Queue maintenance: reclaims jobs of dead processes and prunes old jobs with small statements. The
// supervisor of pg-boss does the same with statements over all jobs, which take seconds at a million.
import { firstIdAt } from '../id.ts'
import type { Log } from '../log.ts'
import { deleteInBatches } from '../postgres/batch.ts'
import type { Sql } from '../postgres/db.ts'
import { fetchSetting } from '../setting/setting.ts'
import { type FailureHook, reclaimStale } from './complete.ts'
import { jobNames } from './jobs.ts'
import type { Queue } from './queue.ts'

const reclaimMs = 10_000
const pruneMs = 300_000

type Options = { sql: Sql; log: Log; onFailed?: FailureHook }

/** Starts the timers; every process that runs jobs does it. */
export function startJobMaintenance({ sql, log, onFailed }: Options) {
  let isStopping = false
  let running: Promise<unknown> = Promise.resolve()
  const every = (ms: number, work: () => Promise<unknown>) =>
    setInterval(() => {
      running = running
        .then(work)
        .catch(error => log.warn({ err: error }, 'queue maintenance failed'))
    }, ms)
  const timers = [
    every(reclaimMs, async () => {
      const jobs = await reclaimStale(sql, { onFailed })
      if (jobs > 0) log.warn({ jobs }, 'jobs of a dead process reclaimed')
    }),
    every(pruneMs, () => pruneJobs(sql, () => isStopping)),
  ]
  return {
    async close() {
      isStopping = true
      for (const timer of timers) clearInterval(timer)
      await running
    },
  }
}

/** Deletes jobs that ended longer ago than the setting `tasks.retention_days`; returns how many. */
export async function pruneJobs(sql: Sql, stop: () => boolean = () => false): Promise<number> {
  const before = new Date(
    Date.now() - (await fetchSetting(sql, 'tasks.retention_days')) * 86_400_000,
  )
  return await deleteInBatches(
    // Ids are ordered by time: jobs created later are not visited.
    limit => sql`
      delete from pgboss.job j
      using (
        select name, id from pgboss.job
        where name = any(${jobNames}) and state in ('completed', 'cancelled', 'failed')
          and id < ${firstIdAt(before)} and completed_on < ${before}
        limit ${limit}
        for update skip locked
      ) d
      where j.name = d.name and j.id = d.id`,
    stop,
  )
}

/** Rebuilds indexes that the turnover of jobs has bloated. */
export async function reindexJobs(sql: Sql, queue: Queue, stop: () => boolean): Promise<void> {
  for (const statement of await queue.reindexStatements()) {
    if (stop()) return
    await sql.unsafe(statement)
  }
}
