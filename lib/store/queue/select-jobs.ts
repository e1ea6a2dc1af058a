// SQL fragments that select jobs, for statements of other modules.
import type { Fragment } from 'postgres'
import type { Queryable, Sql } from '../postgres/db.ts'
import { type JobName, jobNames } from './jobs.ts'

/** Waiting and running jobs as a subquery: columns id, name, data and created_on. */
export function unfinishedJobs(sql: Queryable, names: readonly JobName[]): Fragment {
  return sql`(
    select id, name, data, created_on from pgboss.job
    where name in ${sql(names as string[])} and state < 'completed')`
}

/**
 * A condition: the scan has waiting or running jobs. `libraryId` and `scanId` are expressions of type uuid.
 */
export function hasScanJobs(
  sql: Queryable,
  names: readonly JobName[],
  { libraryId, scanId }: { libraryId: Fragment; scanId: Fragment },
): Fragment {
  return sql`exists (
    select from ${unfinishedJobs(sql, names)} j
    where j.data->>'libraryId' = ${libraryId}::text and j.data->>'scanId' = ${scanId}::text)`
}

/** True if the queue's tables exist. */
export async function queueExists(sql: Sql): Promise<boolean> {
  const [row] = await sql`select to_regclass('pgboss.job') is not null as exists`
  return row!.exists
}

/** Deletes the queue with its tables and all jobs. Only allowed while no process is working. */
export async function dropQueue(sql: Queryable): Promise<void> {
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
