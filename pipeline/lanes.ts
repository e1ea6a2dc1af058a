// Takes jobs from the queue and runs them, a few at a time. Lanes of one group are asked in order, so
// that indexing passes covers and covers pass hashing; the backlog waits in Postgres, not in memory.
import type { JobName, Jobs, Queue } from '../lib/jobs.ts'
import type { Log } from '../lib/log.ts'

export type Work = { [N in JobName]: (job: Jobs[N], stop: () => boolean) => Promise<void> }

const heartbeatMs = 10_000
const restMs = { least: 100, most: 1_000 }

/** Starts the loops. `close()` lets work at hand end at its next safe point and gives unfinished jobs back. */
export function startLanes(
  queue: Queue,
  work: Work,
  groups: { lanes: JobName[]; slots: number }[],
  log: Log,
) {
  let stopping = false
  const stop = () => stopping
  const wakers = new Set<() => void>()

  async function loop(lanes: JobName[]) {
    let rest = restMs.least
    while (!stopping) {
      const ran = await runFirst(lanes).catch(error => {
        log.error({ err: error }, 'taking a job failed')
        return false
      })
      rest = ran ? restMs.least : Math.min(rest * 2, restMs.most)
      if (!ran && !stopping) await sleep(rest)
    }
  }

  async function runFirst(lanes: JobName[]) {
    for (const lane of lanes) {
      const job = await queue.take(lane)
      if (!job) continue
      await run(lane, job)
      return true
    }
    return false
  }

  async function run<N extends JobName>(lane: N, job: { id: string; data: Jobs[N] }) {
    const beat = setInterval(() => queue.boss.touch(lane, job.id).catch(() => {}), heartbeatMs)
    try {
      await work[lane](job.data, stop)
      if (stopping) await queue.giveBack(lane, job.id)
      else await queue.boss.complete(lane, job.id)
    } catch (error) {
      log.error({ err: error, lane, jobId: job.id }, 'job failed')
      await queue.boss.fail(lane, job.id, { message: String(error) })
    } finally {
      clearInterval(beat)
    }
  }

  function sleep(ms: number) {
    return new Promise<void>(resolve => {
      const done = () => {
        clearTimeout(timer)
        wakers.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      wakers.add(done)
    })
  }

  const loops = groups.flatMap(g => Array.from({ length: g.slots }, () => loop(g.lanes)))
  return {
    /** Looks for jobs now instead of at the next poll. */
    wake: () => {
      for (const waker of wakers) waker()
    },
    async close() {
      stopping = true
      for (const waker of wakers) waker()
      await Promise.all(loops)
    },
  }
}
