// The jobs at work in this process: run, kept alive, stopped when they are called off, and ended with
// what came of them.
import type { Sql } from 'postgres'
import { Conflict } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { countTasks } from '../../lib/metrics/task.ts'
import { beat, callOff, complete, fail, giveBack, type Taken } from '../../lib/queue/complete.ts'
import { reasonOf } from '../../lib/queue/failure-reason.ts'
import type { JobName, Jobs, Queue } from '../../lib/queue/queue.ts'
import { tellBegun } from '../../lib/queue/task-events.ts'
import { kinds } from '../../lib/queue/task-kind.ts'

/** How a job is told to stop: ask now and then, or listen. */
export type Course = { stop: () => boolean; signal: AbortSignal }

/** What came of a job that did not just get done; `later` is the same job again after some seconds. */
export type Outcome =
  | { end: 'later'; seconds: number }
  | { end: 'failed'; reason: string }
  | { end: 'cancelled' }

export type Work = {
  [N in JobName]: (job: Jobs[N], course: Course) => Promise<Outcome | undefined> | Promise<void>
}

const beatMs = 10_000

type Deps = { sql: Sql; queue: Queue; log: Log }
type Run = { jobs: readonly Taken[]; abort: AbortController }

/** Begins to listen for jobs that are called off. */
export async function startRuns({ sql, log }: Deps, work: Work) {
  const runs = new Set<Run>()
  let stopped = false

  function callOffHere(id: string) {
    for (const run of runs) if (run.jobs.some(job => job.id === id)) run.abort.abort()
  }

  // Whoever finds a job of its own in other hands, or ended, has nothing to do with it any more.
  async function beatAll() {
    const mine = [...runs]
    const alive = await beat(
      sql,
      mine.flatMap(run => run.jobs),
    )
    for (const run of mine) if (run.jobs.some(job => !alive.has(job.id))) run.abort.abort()
  }

  async function run<N extends JobName>(lane: N, jobs: Taken<N>[]) {
    // Taken while the process was told to stop.
    if (stopped) return await giveBack(sql, jobs)
    const at: Run = { jobs, abort: new AbortController() }
    const began = performance.now()
    runs.add(at)
    try {
      const outcome = await end(at, await attempt(lane, at, jobs))
      countTasks(kinds[lane].type, outcome, { ms: performance.now() - began, tasks: jobs.length })
    } finally {
      runs.delete(at)
    }
  }

  async function attempt<N extends JobName>(lane: N, { abort }: Run, jobs: Taken<N>[]) {
    const { signal } = abort
    // Caught at once: nobody waits for it while the work goes on, and it must not end the process.
    const telling = tellBegun(
      sql,
      jobs.map(job => ({ ...job, state: 'active' as const })),
    ).catch(() => {})
    try {
      let outcome: Outcome | null = null
      for (const data of merge(jobs.map(job => job.data)))
        outcome = (await work[lane](data, { stop: () => signal.aborted, signal })) ?? null
      return outcome
    } catch (error) {
      // Of what is stopped by force any error may come.
      if (signal.aborted) return null
      const told = { err: error, lane, jobIds: jobs.map(job => job.id) }
      // A batch that met another one's change is tried again; that is the course of things.
      if (error instanceof Conflict) log.debug(told, 'job tried again')
      else log.error(told, 'job failed')
      return { end: 'again', reason: reasonOf(error) } as const
    } finally {
      // Its end is not told before its beginning.
      await telling
    }
  }

  async function end({ jobs, abort }: Run, outcome: Awaited<ReturnType<typeof attempt>>) {
    if (abort.signal.aborted) {
      await giveBack(sql, jobs)
      return 'interrupted'
    }
    if (outcome === null) {
      await complete(sql, jobs)
      return 'completed'
    }
    if (outcome.end === 'later') {
      await giveBack(sql, jobs, outcome.seconds)
      return 'interrupted'
    }
    if (outcome.end === 'cancelled') {
      await callOff(sql, jobs)
      return 'cancelled'
    }
    await fail(sql, jobs, { reason: outcome.reason, forGood: outcome.end === 'failed' })
    return 'failed'
  }

  const beatNow = () => void beatAll().catch(() => {})
  // After a lost connection nobody knows what was called off meanwhile.
  const listening = await sql.listen('cancel', callOffHere, beatNow)
  const timer = setInterval(beatNow, beatMs)
  return {
    run,
    /** Stops all work at its next safe point. */
    stop() {
      stopped = true
      for (const { abort } of runs) abort.abort()
    },
    async close() {
      clearInterval(timer)
      await listening.unlisten()
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
