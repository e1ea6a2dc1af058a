// SQL fragments that select jobs, for lists of tasks and for statements of other modules.
import type { Fragment } from 'postgres'
import type { Queryable, Sql } from '../postgres/db.ts'
import { type JobName, jobNames } from './jobs.ts'
import type { JobState } from './task-status.ts'

/** Jobs of some libraries, null for all; `withoutLibrary` includes those of no library. */
export type TaskScope = { libraries: readonly string[] | null; withoutLibrary: boolean }

/** Each job of `names` and `states` is selected once, at most `limit` of every combination. */
export type TaskQuery = {
  scope: TaskScope
  names: readonly JobName[]
  states: readonly JobState[]
  limit: number
  /** The oldest first instead of the newest. */
  oldestFirst?: true
}

/**
 * Columns id, name and state, in the order of creation because ids are ordered by time. Reads indexes
 * only: a queue of a million jobs is no slower than an empty one.
 */
export function selectTasks(sql: Queryable, query: TaskQuery): Fragment {
  const { scope, names, states, limit, oldestFirst } = query
  const direction = oldestFirst ? sql`asc` : sql`desc`
  const firstOfEach = (where: Fragment) => sql`
    cross join unnest(${names as string[]}::text[]) n(name)
    cross join unnest(${states as string[]}::pgboss.job_state[]) s(state)
    cross join lateral (
      select id, name, state from pgboss.job_common
      where name = n.name and state = s.state ${where}
      order by id ${direction}
      limit ${limit}
    ) j`
  const { libraries, withoutLibrary } = scope
  if (libraries === null) return sql`select j.* from (values (1)) once ${firstOfEach(sql``)}`
  return sql`
    select j.* from unnest(${libraries as string[]}::text[]) l(id)
    ${firstOfEach(sql`and data->>'libraryId' = l.id`)}
    union all
    select j.* from (select where ${withoutLibrary}) once
    ${firstOfEach(sql`and data->>'libraryId' is null`)}`
}

/** Waiting and running jobs as a subquery: columns id, name, data and created_on. */
export function unfinishedJobs(sql: Queryable, names: readonly JobName[]): Fragment {
  return sql`(
    select id, name, data, created_on from pgboss.job
    where name in ${sql(names as string[])} and state < 'completed')`
}

/** A condition: the scan has waiting or running jobs. `libraryId` and `scanId` are expressions of type uuid. */
export function hasScanJobs(
  sql: Queryable,
  names: readonly JobName[],
  { libraryId, scanId }: { libraryId: Fragment; scanId: Fragment },
): Fragment {
  return sql`exists (
    select from ${unfinishedJobs(sql, names)} j
    where j.data->>'libraryId' = ${libraryId}::text and j.data->>'scanId' = ${scanId}::text)`
}

/** True when the tables of the queue exist. */
export async function queueExists(sql: Sql): Promise<boolean> {
  const [row] = await sql`select to_regclass('pgboss.job') is not null as exists`
  return row!.exists
}

/** Deletes the queue with its tables and all jobs. Only while no process works. */
export async function dropQueue(sql: Sql): Promise<void> {
  await sql`drop schema if exists pgboss cascade`
}

/** The number of waiting jobs by name. */
export async function countWaiting(sql: Sql): Promise<Record<JobName, number>> {
  const rows = await sql<{ name: string; count: number }[]>`
    select name, count(*) as count from pgboss.job where state < 'active' group by name`
  const counts = new Map(rows.map(row => [row.name, row.count]))
  return Object.fromEntries(jobNames.map(name => [name, counts.get(name) ?? 0])) as Record<
    JobName,
    number
  >
}
