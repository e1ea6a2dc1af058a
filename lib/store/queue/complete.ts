// Start, heartbeats and end of claimed jobs: completed, failed, canceled or released. An attempt that another
// process has taken over changes nothing.
import type { Fragment } from 'postgres'
import { hostName } from '../../base/host.ts'
import type { Queryable, Sql, Transaction } from '../postgres/db.ts'
import { type JobName, type Jobs, jobNames } from './jobs.ts'
import { type JobChange, publishTasks } from './task-events.ts'

/** A job that this process runs. `attempt` identifies the claim. */
export type ClaimedJob<N extends JobName = JobName> = {
  id: string
  name: N
  data: Jobs[N]
  attempt: number
  createdAt: Date
  startedAt: Date
}

/** Called in the transaction in which jobs fail permanently. */
export type FailureHook = (tx: Transaction, failed: readonly JobChange[]) => Promise<void>

type FailOptions = {
  /** Shown to users. */
  reason: string
  /** Whether there are no further attempts. */
  isFinal?: boolean
  onFailed?: FailureHook | undefined
}

/** Records that this process runs the jobs, and publishes their start unless they have just been canceled. */
export async function start(sql: Sql, jobs: readonly ClaimedJob[]): Promise<void> {
  await change(sql, jobs, sql`host = ${hostName}, pid = ${process.pid}`)
}

/** Marks jobs as completed. The ids of a batch are replaced by their number. */
export async function complete(sql: Sql, jobs: readonly ClaimedJob[]): Promise<void> {
  const columns = sql`
    state = 'completed', completed_on = now(), output = null,
    data = case
      when jsonb_array_length(j.data->'ids') > 1
        then (j.data - 'ids') || jsonb_build_object('books', jsonb_array_length(j.data->'ids'))
      else j.data end`
  await change(sql, jobs, columns)
}

/** Ends a failed attempt: the job is retried later if attempts are left. */
export async function fail(
  sql: Sql,
  jobs: readonly ClaimedJob[],
  { reason, isFinal = false, onFailed }: FailOptions,
): Promise<void> {
  const canRetry = isFinal ? sql`false` : hasAttempts(sql)
  await change(
    sql,
    jobs,
    failureColumns(sql, { reason, canRetry, retryAt: backoff(sql) }),
    onFailed,
  )
}

/** Ends jobs that were canceled, or whose scan was. */
export async function cancel(sql: Sql, jobs: readonly ClaimedJob[]): Promise<void> {
  await change(sql, jobs, sql`state = 'cancelled', completed_on = now()`)
}

/** Makes unfinished jobs available again, optionally after a delay. The attempt does not count. */
export async function release(sql: Sql, jobs: readonly ClaimedJob[], delaySeconds = 0) {
  const columns = sql`
    state = 'retry', started_on = null, heartbeat_on = null,
    start_after = greatest(j.start_after, now() + make_interval(secs => ${delaySeconds}))`
  await change(sql, jobs, columns)
}

/** Changes the jobs still claimed by these attempts, and publishes them. */
async function change(
  sql: Sql,
  jobs: readonly ClaimedJob[],
  columns: Fragment,
  onFailed?: FailureHook,
): Promise<void> {
  await sql.begin(async tx => {
    const rows = await tx<JobChange[]>`
      update pgboss.job j
      set ${columns}
      from ${lockedClaims(tx, jobs)}
      where j.name = c.name and j.id = c.id
      returning ${jobChangeColumns(tx)}`
    await afterFailure(tx, rows, onFailed)
  })
}

/** Renews the heartbeats of running jobs; returns the ids of those still claimed by this process. */
export async function heartbeat(sql: Sql, jobs: readonly ClaimedJob[]): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    update pgboss.job j set heartbeat_on = now()
    from ${lockedClaims(sql, jobs)}
    where j.name = c.name and j.id = c.id
    returning j.id`
  return new Set(rows.map(row => row.id))
}

/**
 * Ends the attempts of dead processes: jobs without a heartbeat for as long as their queue allows. With
 * `all`, for a process that is alone on the database, ends every active job. Returns how many.
 */
export async function reclaimStale(
  sql: Sql,
  { all = false, onFailed }: { all?: boolean; onFailed?: FailureHook } = {},
): Promise<number> {
  return await sql.begin(async tx => {
    // After the first failure another process may take the job immediately.
    const retryAt = tx`case when ${all} or j.retry_count = 0 then j.start_after else ${backoff(tx)} end`
    const rows = await tx<JobChange[]>`
      update pgboss.job j
      set ${failureColumns(tx, { reason: processDied, canRetry: hasAttempts(tx), retryAt })}
      from (
        select id, name from pgboss.job
        where name = any(${jobNames}) and state = 'active'
          and (${all} or heartbeat_on < now() - make_interval(secs => heartbeat_seconds))
        order by id
        for no key update skip locked
      ) d
      where j.name = d.name and j.id = d.id
      returning ${jobChangeColumns(tx)}`
    await afterFailure(tx, rows, onFailed)
    return rows.length
  })
}

const processDied = 'The process that ran the task ended'

/**
 * The jobs still claimed by these attempts, as `c(name, id)`. Locked in id order, because a heartbeat for all
 * jobs of the process may run concurrently with several completions.
 */
function lockedClaims(sql: Queryable, jobs: readonly ClaimedJob[]): Fragment {
  return sql`(
    select j.name, j.id
    from pgboss.job j
    join unnest(${jobs.map(job => job.id)}::uuid[], ${jobs.map(job => job.name)}::text[],
      ${jobs.map(job => job.attempt)}::integer[]) as u(id, name, attempt)
      on j.name = u.name and j.id = u.id and j.retry_count = u.attempt
    where j.state = 'active'
    order by j.id
    for no key update of j
  ) c`
}

function hasAttempts(sql: Queryable): Fragment {
  return sql`j.retry_count < j.retry_limit`
}

// Exponential, with jitter so that jobs that failed together are not retried together.
function backoff(sql: Queryable): Fragment {
  return sql`now() + make_interval(secs => least(j.retry_delay_max,
    j.retry_delay * 2 ^ least(j.retry_count, 16) * (1 + random())))`
}

type Failure = { reason: string; canRetry: Fragment; retryAt: Fragment }

function failureColumns(sql: Queryable, { reason, canRetry, retryAt }: Failure) {
  return sql`
    state = (case when ${canRetry} then 'retry' else 'failed' end)::pgboss.job_state,
    completed_on = case when ${canRetry} then null else now() end,
    start_after = case when ${canRetry} then ${retryAt} else j.start_after end,
    heartbeat_on = null, output = jsonb_build_object('message', ${reason}::text)`
}

/** Columns of JobChange from `pgboss.job j`. */
export function jobChangeColumns(sql: Queryable): Fragment {
  return sql`
    j.id, j.name, j.state, j.data, j.output->>'message' as error, j.created_on as "createdAt",
    j.started_on as "startedAt", j.completed_on as "completedAt"`
}

async function afterFailure(
  tx: Transaction,
  rows: readonly JobChange[],
  onFailed: FailureHook | undefined,
) {
  const failed = rows.filter(row => row.state === 'failed')
  if (failed.length > 0) await onFailed?.(tx, failed)
  await publishTasks(tx, rows)
}
