// Queue maintenance: reclaims jobs of dead processes and prunes old jobs with small statements. pg-boss's
// supervisor does the same with statements over all jobs, which take seconds for a million.
import type { Fragment } from 'postgres'
import { firstIdAt } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { deleteInBatches } from '../postgres/batch.ts'
import { isConnectionLost, isDiskFull } from '../postgres/connection-error.ts'
import type { Sql } from '../postgres/db.ts'
import { fetchSetting } from '../setting/setting.ts'
import { watchClock } from './clock.ts'
import { type FailureHook, reclaimStale } from './complete.ts'
import { jobNames } from './jobs.ts'
import type { Queue } from './queue.ts'

const reclaimMs = 10_000
const pruneMs = 300_000

type Options = { sql: Sql; log: Log; onFailed?: FailureHook }

/** Starts the timers; every process that runs jobs does this. */
export function startJobMaintenance({ sql, log, onFailed }: Options) {
  let isStopping = false
  let running: Promise<unknown> = Promise.resolve()
  const every = (ms: number, work: () => Promise<unknown>) =>
    setInterval(() => {
      running = running
        .then(work)
        .catch(error =>
          log[isConnectionLost(error) || isDiskFull(error) ? 'debug' : 'warn'](
            { err: error },
            'queue maintenance failed',
          ),
        )
    }, ms)
  const resetAfterStep = watchClock(sql)
  const timers = [
    every(reclaimMs, async () => {
      const future = await resetAfterStep()
      if (future > 0) log.warn({ jobs: future }, 'the clock was set back; jobs are due immediately')
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
  const days = await fetchSetting(sql, 'tasks.retention_days')
  return await deleteEndedJobs(sql, { days, where: sql`true` }, stop)
}

/** Deletes jobs that ended more than `days` ago; `where` is a condition on `job j`. Returns how many. */
export async function deleteEndedJobs(
  sql: Sql,
  { days, where }: { days: number; where: Fragment },
  stop: () => boolean = () => false,
): Promise<number> {
  const before = new Date(Date.now() - days * 86_400_000)
  return await deleteInBatches(
    // Ids are ordered by time, so jobs created later are not visited.
    limit => sql`
      delete from pgboss.job j
      using (
        select j.name, j.id from pgboss.job j
        where j.name = any(${jobNames}) and j.state in ('completed', 'cancelled', 'failed')
          and j.id < ${firstIdAt(before)} and j.completed_on < ${before} and ${where}
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
