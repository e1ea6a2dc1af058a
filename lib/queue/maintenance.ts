// What pg-boss would do with statements over all jobs, done with small ones: jobs of dead processes go
// to others, and jobs that have long ended are deleted.
import type { Sql } from 'postgres'
import { leastId } from '../id.ts'
import type { Log } from '../log.ts'
import { storedSetting } from '../setting/setting.ts'
import { endDead } from './complete.ts'
import { jobNames } from './jobs.ts'
import type { Queue } from './queue.ts'

const deadMs = 10_000
const pruneMs = 300_000
const batch = 1_000

/** Begins; every process that works does it. */
export function startMinding(sql: Sql, log: Log) {
  let stopping = false
  let atWork: Promise<unknown> = Promise.resolve()
  const every = (ms: number, work: () => Promise<unknown>) =>
    setInterval(() => {
      atWork = atWork
        .then(work)
        .catch(error => log.warn({ err: error }, 'jobs could not be looked after'))
    }, ms)
  const timers = [
    every(deadMs, async () => {
      const jobs = await endDead(sql)
      if (jobs > 0) log.warn({ jobs }, 'jobs of a dead process were taken from it')
    }),
    every(pruneMs, () => pruneTasks(sql, () => stopping)),
  ]
  return {
    async close() {
      stopping = true
      for (const timer of timers) clearInterval(timer)
      await atWork
    },
  }
}

/** Deletes what ended longer ago than the setting `tasks.retention_days` says, and answers how many. */
export async function pruneTasks(sql: Sql, stop: () => boolean = () => false): Promise<number> {
  const before = new Date(
    Date.now() - (await storedSetting(sql, 'tasks.retention_days')) * 86_400_000,
  )
  let pruned = 0
  while (!stop()) {
    // Ids tell their time: what was made later is not looked at.
    const { count } = await sql`
      delete from pgboss.job j
      using (
        select name, id from pgboss.job
        where name = any(${jobNames}) and state in ('completed', 'cancelled', 'failed')
          and id < ${leastId(before)} and completed_on < ${before}
        limit ${batch}
        for update skip locked
      ) d
      where j.name = d.name and j.id = d.id`
    pruned += count
    if (count < batch) break
  }
  return pruned
}

/** Makes indexes small again that the coming and going of jobs has blown up. */
export async function reindexJobs(sql: Sql, queue: Queue, stop: () => boolean): Promise<void> {
  for (const statement of await queue.reindexing()) {
    if (stop()) return
    await sql.unsafe(statement)
  }
}
