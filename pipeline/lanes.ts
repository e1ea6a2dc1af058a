// Takes jobs from the queue and runs them, a few at a time. Lanes of one group are asked in order, so
// that indexing passes covers, and hashing waits until both are done, because it would take the disk
// from them; the backlog waits in Postgres, not in memory.
import { Conflict } from '../lib/errors.ts'
import type { JobName, Jobs, Queue } from '../lib/jobs.ts'
import type { Log } from '../lib/log.ts'

export type Work = { [N in JobName]: (job: Jobs[N], stop: () => boolean) => Promise<void> }

const heartbeatMs = 10_000
// Large books are stored a few at a time and leave small jobs behind; together they keep a thread busy.
const takenTogether: Record<JobName, number> = {
  scan: 1,
  index: 1,
  cover: 3,
  hash: 3,
  dedupe: 1,
  erase: 1,
}
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
  let bells = 0

  async function loop(lanes: JobName[]) {
    let rest = restMs.least
    while (!stopping) {
      const heard = bells
      const ran = await runFirst(lanes).catch(error => {
        log.error({ err: error }, 'taking a job failed')
        return false
      })
      rest = ran ? restMs.least : Math.min(rest * 2, restMs.most)
      // A bell that rang while the lanes were looked at may mean a job they just missed.
      if (!ran && !stopping && heard === bells) await sleep(rest)
    }
  }

  async function runFirst(lanes: JobName[]) {
    for (const lane of lanes) {
      if (lane === 'hash' && (await queue.pending(['index', 'cover']))) continue
      const jobs = await queue.take(lane, takenTogether[lane])
      if (jobs.length === 0) continue
      await run(lane, jobs)
      return true
    }
    return false
  }

  async function run<N extends JobName>(lane: N, jobs: { id: string; data: Jobs[N] }[]) {
    const ids = jobs.map(job => job.id)
    const beat = setInterval(() => queue.boss.touch(lane, ids).catch(() => {}), heartbeatMs)
    try {
      for (const data of merge(jobs.map(job => job.data))) await work[lane](data, stop)
      if (stopping) await queue.giveBack(lane, ids)
      else await queue.boss.complete(lane, ids)
    } catch (error) {
      // A batch that met another one's change is tried again; that is the course of things.
      if (error instanceof Conflict) log.debug({ lane, jobIds: ids }, 'job tried again')
      else log.error({ err: error, lane, jobIds: ids }, 'job failed')
      await queue.boss.fail(lane, ids, { message: String(error) })
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
      bells++
      for (const waker of wakers) waker()
    },
    async close() {
      stopping = true
      for (const waker of wakers) waker()
      await Promise.all(loops)
    },
  }
}

/** One payload a scan, with the books of all. */
function merge<D extends Jobs[JobName]>(all: D[]): D[] {
  const merged = new Map<string, D>()
  for (const data of all) {
    if (!('ids' in data)) return all
    const key = `${data.scanId} ${'again' in data}`
    const known = merged.get(key)
    if (known && 'ids' in known) known.ids.push(...data.ids)
    else merged.set(key, { ...data, ids: [...data.ids] })
  }
  return [...merged.values()]
}
