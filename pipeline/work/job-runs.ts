// Job runs of this process: heartbeats, cancellation, and the end of each job with its result.
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict, Failure, isShortage, NotResponding, Unavailable } from '../../lib/base/errors.ts'
import type { Log } from '../../lib/base/log.ts'
import { failScans } from '../../lib/catalog/scan/scan-failure.ts'
import { countTasks } from '../../lib/store/metrics/pipeline.ts'
import { isConnectionLost, isDiskFull } from '../../lib/store/postgres/connection-error.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import {
  type ClaimedJob,
  cancel,
  complete,
  fail,
  heartbeat,
  release,
  start,
} from '../../lib/store/queue/complete.ts'
import { postpone } from '../../lib/store/queue/control.ts'
import { failureReason } from '../../lib/store/queue/failure-reason.ts'
import type { JobControl, JobOutcome } from '../../lib/store/queue/job-run.ts'
import { type JobName, type Jobs, jobTypes } from '../../lib/store/queue/jobs.ts'
import type { SpaceGuard, StorageArea } from '../../lib/store/space-guard.ts'

/** `group` is the worker group that runs the job; the group takes jobs in the order of the handlers. */
export type JobHandler<N extends JobName, G extends string = string> = {
  group: G
  /** Areas that the job fills: it waits while one of them is short of space. */
  fills?: readonly StorageArea[]
  run(job: Jobs[N], control: JobControl): Promise<JobOutcome | undefined> | Promise<void>
}

/** A handler for every job: a missing one is a type error. */
export type JobHandlers<G extends string = string> = { [N in JobName]: JobHandler<N, G> }

const heartbeatMs = 10_000
const lostRetryMs = 250
const fullRetrySeconds = 5
// They are made ready when the disk responds; trying one too early costs little.
const hungRetrySeconds = 30
const shortageRetrySeconds = 5

type Deps = { sql: Sql; log: Log; space: Pick<SpaceGuard, 'shortage' | 'reportFull'> }
type Run = { jobs: readonly ClaimedJob[]; abort: AbortController }

/** Starts heartbeats and listens for canceled jobs. */
export async function startJobRuns({ sql, log, space }: Deps, handlers: Partial<JobHandlers>) {
  const runs = new Set<Run>()
  let isClosing = false

  function cancelRun(jobId: string) {
    for (const run of runs) if (run.jobs.some(job => job.id === jobId)) run.abort.abort()
  }

  // A job that ended or was claimed by another process must not continue here.
  async function sendHeartbeats() {
    const current = [...runs]
    const alive = await heartbeat(
      sql,
      current.flatMap(run => run.jobs),
    )
    for (const run of current) if (run.jobs.some(job => !alive.has(job.id))) run.abort.abort()
  }

  async function run<N extends JobName>(name: N, jobs: ClaimedJob<N>[]) {
    // Claimed just as the process began to stop.
    if (isClosing) return await release(sql, jobs)
    const current: Run = { jobs, abort: new AbortController() }
    const startedAt = performance.now()
    runs.add(current)
    try {
      const result = await endWhenPossible(current, await attempt(name, current, jobs))
      const ms = performance.now() - startedAt
      countTasks(jobTypes[name].task, result, { ms, tasks: jobs.length })
    } finally {
      runs.delete(current)
    }
  }

  async function attempt<N extends JobName>(name: N, { abort }: Run, jobs: ClaimedJob<N>[]) {
    const { signal } = abort
    const handler = handlers[name] as JobHandler<N>
    // Caught here: an error must not end the process while the job continues.
    const publishing = start(sql, jobs).catch(() => {})
    try {
      let outcome: JobOutcome | null = null
      for (const payload of mergePayloads(jobs.map(job => job.data)))
        outcome = (await handler.run(payload, { isStopped: () => signal.aborted, signal })) ?? null
      return outcome
    } catch (error) {
      // A job that is stopped by force may throw any error.
      if (signal.aborted) return null
      if (error instanceof NotResponding) await postponeLibrary(name, jobs)
      return outcomeOfError({ log, space }, error, { job: name, jobIds: jobs.map(job => job.id) })
    } finally {
      // The start must be published before the end.
      await publishing
    }
  }

  /** Otherwise, other jobs of a library with a hung disk would be claimed before those of other libraries. */
  async function postponeLibrary(name: JobName, jobs: readonly ClaimedJob[]) {
    for (const { data } of jobs)
      if ('libraryId' in data && data.libraryId)
        await postpone(sql, name, data.libraryId, hungRetrySeconds)
  }

  /**
   * Ending a job survives the loss of the database: otherwise the job would wait for its heartbeat to expire.
   */
  async function endWhenPossible(run: Run, outcome: Outcome) {
    for (;;) {
      try {
        return await endRun(sql, run, outcome)
      } catch (error) {
        if (isClosing || !(isConnectionLost(error) || isDiskFull(error) || isShortage(error)))
          throw error
        await sleep(lostRetryMs)
      }
    }
  }

  const beat = () => void sendHeartbeats().catch(() => {})
  // Cancellations may have been missed while the connection was lost; heartbeats find them.
  const listening = await sql.listen('cancel', cancelRun, beat)
  const timer = setInterval(beat, heartbeatMs)
  return {
    run,
    /** Stops all jobs at their next safe point. */
    stop() {
      isClosing = true
      for (const { abort } of runs) abort.abort()
    },
    async close() {
      clearInterval(timer)
      await listening.unlisten()
    },
  }
}

type Outcome = JobOutcome | { end: 'retry'; reason: string } | null

function outcomeOfError(
  { log, space }: Pick<Deps, 'log' | 'space'>,
  error: unknown,
  job: { job: JobName; jobIds: string[] },
): Outcome {
  const details = { err: error, ...job }
  // None of these four is a failure of the job: it is repeated as if it had not run.
  if (isShortage(error)) {
    log.warn({ ...job, reason: failureReason(error) }, 'job will be repeated later')
    return { end: 'later', seconds: shortageRetrySeconds }
  }
  if (isConnectionLost(error)) {
    log.debug(details, 'job will be repeated: the database was lost')
    return { end: 'later', seconds: 0 }
  }
  if (isDiskFull(error)) {
    log.debug(details, 'job will be repeated: the disk is full')
    if (!(error instanceof Failure)) space.reportFull('database')
    return { end: 'later', seconds: fullRetrySeconds }
  }
  if (error instanceof NotResponding) {
    log.debug(details, 'job will be repeated: a disk does not respond')
    return { end: 'later', seconds: hungRetrySeconds }
  }
  // A batch that hit a concurrent change is retried; that is expected.
  if (error instanceof Conflict) log.debug(details, 'job will be retried')
  // As of a library folder that is not there.
  else if (error instanceof Unavailable)
    log.warn({ reason: error.message, ...job }, 'job will be retried')
  else log.error(details, 'job failed')
  return { end: 'retry', reason: failureReason(error) }
}

/** Stores the end of a run; returns the name of its result for metrics. */
async function endRun(sql: Sql, { jobs, abort }: Run, outcome: Outcome) {
  if (abort.signal.aborted) {
    await release(sql, jobs)
    return 'interrupted'
  }
  if (outcome === null) {
    await complete(sql, jobs)
    return 'completed'
  }
  if (outcome.end === 'later') {
    await release(sql, jobs, outcome.seconds)
    return 'interrupted'
  }
  if (outcome.end === 'cancelled') {
    await cancel(sql, jobs)
    return 'cancelled'
  }
  const isFinal = outcome.end === 'failed'
  await fail(sql, jobs, { reason: outcome.reason, isFinal, onFailed: failScans })
  return 'failed'
}

/** Merges the batches of one scan's jobs into one payload. */
function mergePayloads<D extends Jobs[JobName]>(payloads: D[]): D[] {
  const merged = new Map<string, D>()
  for (const payload of payloads) {
    if (!('ids' in payload)) return payloads
    const key = JSON.stringify({ ...payload, ids: [] })
    const target = merged.get(key)
    if (target && 'ids' in target) target.ids.push(...payload.ids)
    else merged.set(key, { ...payload, ids: [...payload.ids] })
  }
  return [...merged.values()]
}
