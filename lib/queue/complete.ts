// How jobs that were taken end: done, failed, or given back. An attempt that another process has taken
// over meanwhile ends nothing.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { tellScans } from '../catalog/scan/scan-events.ts'
import { isOfScan, type JobName, type Jobs, jobNames } from './jobs.ts'
import { type Moved, tellTasks } from './task-events.ts'

/** A job at work here. `attempt` names the claim. */
export type Taken<N extends JobName = JobName> = {
  id: string
  name: N
  data: Jobs[N]
  attempt: number
  createdAt: Date
  startedAt: Date
}

type Tx = Sql | TransactionSql

/** Done. What a batch held is counted and forgotten. */
export async function complete(sql: Sql, jobs: readonly Taken[]): Promise<void> {
  await sql.begin(async tx => {
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set state = 'completed', completed_on = now(), output = null,
        data = case
          when jsonb_array_length(j.data->'ids') > 1
            then (j.data - 'ids') || jsonb_build_object('books', jsonb_array_length(j.data->'ids'))
          else j.data end
      from ${held(tx, jobs)}
      where ${isHeld(tx)}
      returning ${movedColumns(tx)}`
    await tellTasks(tx, rows)
  })
}

/**
 * Failed: tried again later while attempts are left, unless it is `forGood`. The reason is shown to
 * users. A scan whose job is given up fails with it.
 */
export async function fail(
  sql: Sql,
  jobs: readonly Taken[],
  { reason, forGood = false }: { reason: string; forGood?: boolean },
): Promise<void> {
  await sql.begin(async tx => {
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set ${failed(tx, { reason, again: forGood ? tx`false` : hasAttempts(tx), at: later(tx) })}
      from ${held(tx, jobs)}
      where ${isHeld(tx)}
      returning ${movedColumns(tx)}`
    await failScans(tx, rows)
    await tellTasks(tx, rows)
  })
}

/** Called off: the state was set by whoever did so, or a scan ended so. */
export async function callOff(sql: Sql, jobs: readonly Taken[]): Promise<void> {
  await sql.begin(async tx => {
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set state = 'cancelled', completed_on = now()
      from ${held(tx, jobs)}
      where ${isHeld(tx)}
      returning ${movedColumns(tx)}`
    await tellTasks(tx, rows)
  })
}

/** Begun and not ended: whoever comes next goes on, after `seconds` if given. No attempt is counted. */
export async function giveBack(sql: Sql, jobs: readonly Taken[], seconds = 0): Promise<void> {
  await sql.begin(async tx => {
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set state = 'retry', started_on = null, heartbeat_on = null,
        start_after = greatest(j.start_after, now() + make_interval(secs => ${seconds}))
      from ${held(tx, jobs)}
      where ${isHeld(tx)}
      returning ${movedColumns(tx)}`
    await tellTasks(tx, rows)
  })
}

/** A sign of life of jobs at work; answers the ids of those that are still this process's. */
export async function beat(sql: Sql, jobs: readonly Taken[]): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    update pgboss.job j set heartbeat_on = now()
    from ${held(sql, jobs)}
    where ${isHeld(sql)}
    returning j.id`
  return new Set(rows.map(row => row.id))
}

/**
 * Ends the attempts of processes that are gone: without a sign of life for as long as their queue says,
 * or, for a process that is alone on the database, all. Answers how many.
 */
export async function endDead(sql: Sql, { all = false } = {}): Promise<number> {
  return await sql.begin(async tx => {
    // The first time somebody else takes it at once.
    const at = tx`case when ${all} or j.retry_count = 0 then j.start_after else ${later(tx)} end`
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set ${failed(tx, { reason: gone, again: hasAttempts(tx), at })}
      from (
        select id, name from pgboss.job
        where name = any(${jobNames}) and state = 'active'
          and (${all} or heartbeat_on < now() - make_interval(secs => heartbeat_seconds))
        for no key update skip locked
      ) d
      where j.name = d.name and j.id = d.id
      returning ${movedColumns(tx)}`
    await failScans(tx, rows)
    await tellTasks(tx, rows)
    return rows.length
  })
}

const gone = 'The process that did it came to an end'

function held(sql: Tx, jobs: readonly Taken[]): Fragment {
  return sql`unnest(${jobs.map(job => job.id)}::uuid[], ${jobs.map(job => job.name)}::text[],
    ${jobs.map(job => job.attempt)}::integer[]) as h(id, name, attempt)`
}

function isHeld(sql: Tx): Fragment {
  return sql`j.name = h.name and j.id = h.id and j.state = 'active' and j.retry_count = h.attempt`
}

function hasAttempts(sql: Tx): Fragment {
  return sql`j.retry_count < j.retry_limit`
}

// Twice as long each time, and not all at once.
function later(sql: Tx): Fragment {
  return sql`now() + make_interval(secs => least(j.retry_delay_max,
    j.retry_delay * 2 ^ least(j.retry_count, 16) * (1 + random())))`
}

function failed(sql: Tx, { reason, again, at }: { reason: string; again: Fragment; at: Fragment }) {
  return sql`
    state = (case when ${again} then 'retry' else 'failed' end)::pgboss.job_state,
    completed_on = case when ${again} then null else now() end,
    start_after = case when ${again} then ${at} else j.start_after end,
    heartbeat_on = null, output = jsonb_build_object('message', ${reason}::text)`
}

/** Columns of Moved from `pgboss.job j`. */
export function movedColumns(sql: Tx): Fragment {
  return sql`
    j.id, j.name, j.state, j.data, j.output->>'message' as error, j.created_on as "createdAt",
    j.started_on as "startedAt", j.completed_on as "completedAt"`
}

/** A scan is over when its job is given up. */
async function failScans(tx: TransactionSql, rows: readonly Moved[]) {
  const given = rows.filter(row => isOfScan(row.name) && row.state === 'failed')
  if (given.length === 0) return
  const reasons = given.map(row => ({ id: row.id, reason: row.error }))
  const scans = await tx<{ id: string }[]>`
    update scan s
    set state = 'failed', message = f.reason, finished_at = now()
    from jsonb_to_recordset(${tx.json(reasons as never)}) as f(id uuid, reason text)
    where s.id = f.id and s.state in ('queued', 'running')
    returning s.id`
  await tellScans(
    tx,
    scans.map(scan => scan.id),
  )
}
