// Queue workers: loops that claim jobs and run them, a fixed number for each group of jobs.
import { createBatchLoader } from '../../lib/base/async/batch-loader.ts'
import { createWakeup, type Wakeup } from '../../lib/base/async/wakeup.ts'
import type { Log } from '../../lib/base/log.ts'
import { isConnectionLost, isDiskFull } from '../../lib/store/postgres/connection-error.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { isScanJob, type JobName } from '../../lib/store/queue/jobs.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import type { SpaceGuard } from '../../lib/store/space-guard.ts'
import { type JobHandlers, startJobRuns } from './job-runs.ts'

// Large books are stored a few at a time and leave small jobs behind; together they occupy a thread.
const claimLimits: Partial<Record<JobName, number>> = { cover: 3, hash: 3 }
/** Interval between checks for jobs whose notification was lost; it grows while there are none. */
const defaultPollMs = { min: 100, max: 1_000 }

// One cheap statement for all workers that look for jobs at the same time: claiming each name costs ten times
// as much when nothing is ready, and each connection has to plan its statements.
const isReady = createBatchLoader(async (_: null, queue: Queue, names: string[]) => {
  const ready = await queue.readyNames(names as JobName[])
  return new Map(ready.map(name => [name as string, true]))
})

type Deps = { sql: Sql; queue: Queue; log: Log; space: Pick<SpaceGuard, 'shortage' | 'reportFull'> }
type WorkerGroup = { jobs: JobName[]; concurrency: number; wakeup: Wakeup }

/**
 * Starts the workers; `concurrency` is the number of workers in each group. `close()` stops all jobs at their
 * next safe point and releases unfinished ones.
 */
export async function startWorkers<G extends string>(
  { sql, queue, log, space }: Deps,
  handlers: Partial<JobHandlers<G>>,
  concurrency: Record<G, number>,
  pollMs = defaultPollMs,
) {
  let isStopping = false
  let lastClaimFailed = false
  const scanEnds = createWakeup()
  const runs = await startJobRuns({ sql, log, space }, handlers)
  const groups = groupJobs(handlers, concurrency)

  async function loop({ jobs, wakeup }: WorkerGroup) {
    let waitMs = pollMs.min
    while (!isStopping) {
      const seen = wakeup.notifyCount()
      const ran = await runFirst(jobs).catch(error => {
        lastClaimFailed = true
        // These are reported once: the loss by the database monitor, the full disk by the space guard.
        const isFull = isDiskFull(error)
        if (isFull) space.reportFull('database')
        const level = isFull || isConnectionLost(error) || isStopping ? 'debug' : 'error'
        log[level]({ err: error }, 'claiming a job failed')
        return false
      })
      waitMs = ran ? pollMs.min : Math.min(waitMs * 2, pollMs.max)
      // With `seen`, a job enqueued while the queues were being checked is not missed.
      if (!ran && !isStopping) await wakeup.wait(waitMs, seen)
    }
  }

  async function runFirst(names: JobName[]) {
    const hasSpace = (name: JobName) => {
      const { fills } = handlers[name] ?? {}
      return !fills || !space.shortage(fills)
    }
    const usable = names.filter(hasSpace)
    const ready = await Promise.all(usable.map(name => isReady(null, queue, name)))
    for (const name of usable.filter((_, i) => ready[i])) {
      if (name === 'hash' && (await queue.hasReadyJobs(['index', 'cover']))) continue
      const jobs = await queue.claim(name, claimLimits[name] ?? 1)
      if (jobs.length === 0) continue
      lastClaimFailed = false
      await runs.run(name, jobs)
      if (isScanJob(name)) scanEnds.notify()
      return true
    }
    lastClaimFailed = false
    return false
  }

  const wake = (name?: JobName) => {
    for (const { jobs, wakeup } of groups)
      if (name === undefined || jobs.includes(name)) wakeup.notify()
  }
  const listening = await sql.listen(
    'work',
    name => wake(name as JobName),
    () => wake(),
  )
  const loops = groups.flatMap(group =>
    Array.from({ length: group.concurrency }, () => loop(group)),
  )
  return {
    /** Checks for jobs, optionally of one name, now rather than at the next poll. */
    wake,
    /** Notified when a scan has ended in this process. */
    scanEnds,
    /** False while the queue cannot be read, and once the workers stop. */
    isClaiming: () => !isStopping && !lastClaimFailed,
    async close() {
      isStopping = true
      runs.stop()
      wake()
      await listening.unlisten()
      await Promise.all(loops)
      await runs.close()
    },
  }
}

function groupJobs<G extends string>(
  handlers: Partial<JobHandlers<G>>,
  concurrency: Record<G, number>,
): WorkerGroup[] {
  const names = Object.keys(handlers) as JobName[]
  return (Object.keys(concurrency) as G[]).map(group => ({
    jobs: names.filter(name => handlers[name]!.group === group),
    concurrency: concurrency[group],
    wakeup: createWakeup(),
  }))
}
