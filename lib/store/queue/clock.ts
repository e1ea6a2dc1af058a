// Jobs after the clock of the database was set back: their times are in the future and would not come for as
// long as the step was.
import type { Fragment } from 'postgres'
import type { Queryable, Sql } from '../postgres/db.ts'
import { jobNames, jobTypes } from './jobs.ts'

const toleranceMs = 1_000
const maxDelaySeconds = Math.max(...jobNames.map(name => jobTypes[name].queue.retryDelayMax))

/** Unfinished jobs whose times can only be those of another clock: columns id, name and state. */
export function futureJobs(sql: Queryable): Fragment {
  // Of the statement, not of the transaction: a job may have been created since that began.
  const future = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds})`
  return sql`(
    select id, name, state from pgboss.job
    where name = any(${jobNames}) and (
      (state < 'active' and (start_after > ${future(2 * maxDelaySeconds)}
        or (created_on > ${future(1)} and start_after >= created_on)))
      or (state = 'active' and heartbeat_on > ${future(1)})))`
}

/** Makes these jobs due now; running ones have their heartbeats from now on. Returns how many. */
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

/** Returns a function that resets future jobs when it is first called and after each step back of the clock. */
export function watchClock(
  sql: Sql,
  now: () => Promise<number> = () => databaseTime(sql),
): () => Promise<number> {
  let last: { time: number; monotonic: number } | null = null
  return async () => {
    const time = await now()
    const monotonic = performance.now()
    // Not every time: it visits all waiting jobs.
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
