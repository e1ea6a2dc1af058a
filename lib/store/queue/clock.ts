// Jobs after the database clock was set back: their times lie in the future, and they would wait for as long
// as the clock was set back.
import type { Fragment } from 'postgres'
import type { Queryable, Sql } from '../postgres/db.ts'
import { jobNames, jobTypes } from './jobs.ts'

const toleranceMs = 1_000
const maxDelaySeconds = Math.max(...jobNames.map(name => jobTypes[name].queue.retryDelayMax))

/** Unfinished jobs whose times can only come from an earlier clock setting: columns id, name and state. */
export function futureJobs(sql: Queryable): Fragment {
  // Statement time, not transaction time: a job may have been created since the transaction began.
  const future = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds})`
  return sql`(
    select id, name, state from pgboss.job
    where name = any(${jobNames}) and (
      (state < 'active' and (start_after > ${future(2 * maxDelaySeconds)}
        or (created_on > ${future(1)} and start_after >= created_on)))
      or (state = 'active' and heartbeat_on > ${future(1)})))`
}

/** Makes these jobs due now; heartbeats of running ones restart from now. Returns how many there were. */
export async function resetFutureJobs(sql: Sql): Promise<number> {
  const { count } = await sql`
    update pgboss.job j
    set created_on = least(j.created_on, now()),
      start_after = least(j.start_after, now()),
      heartbeat_on = least(j.heartbeat_on, now())
    from (
      select j.name, j.id from pgboss.job j
      join ${futureJobs(sql)} f on f.name = j.name and f.id = j.id
      order by j.id
      for no key update of j skip locked
    ) d
    where j.name = d.name and j.id = d.id`
  return count
}

/** Returns a function that resets future jobs on its first call and whenever the clock was set back. */
export function watchClock(
  sql: Sql,
  now: () => Promise<number> = () => databaseTime(sql),
): () => Promise<number> {
  let last: { time: number; monotonic: number } | null = null
  return async () => {
    const time = await now()
    const monotonic = performance.now()
    // Not on every call, because it visits all waiting jobs.
    const isDue = last === null || time - last.time < monotonic - last.monotonic - toleranceMs
    const reset = isDue ? await resetFutureJobs(sql) : 0
    last = { time, monotonic }
    return reset
  }
}

async function databaseTime(sql: Sql): Promise<number> {
  const [row] = await sql<{ time: number }[]>`
    select extract(epoch from clock_timestamp())::double precision * 1000 as time`
  return row!.time
}
