// Control of queued jobs by scans and libraries: delete, cancel, postpone, reassign to another scan.
import type { Fragment } from 'postgres'
import type { Queryable, Sql } from '../postgres/db.ts'
import { jobChangeColumns } from './complete.ts'
import type { JobName } from './jobs.ts'
import { type JobChange, publishTasks } from './task-events.ts'

/** Deletes the waiting jobs of a library from a queue. */
export async function deleteWaiting(tx: Queryable, name: JobName, libraryId: string) {
  await tx`
    delete from pgboss.job j
    using ${inOrder(tx, tx`name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`)}
    where j.name = w.name and j.id = w.id`
}

/**
 * Cancels all jobs of a library's scans: the scan jobs and the batches they enqueued. Waiting batches are
 * deleted without an event; running jobs stop at their next safe point.
 */
export async function cancelScans(tx: Queryable, libraryId: string, scanIds: readonly string[]) {
  if (scanIds.length === 0) return
  const ids = scanIds as string[]
  const waiting = tx`name in ('index', 'cover', 'hash') and state < 'active'
    and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${ids})`
  await tx`
    delete from pgboss.job j
    using ${inOrder(tx, waiting)}
    where j.name = w.name and j.id = w.id`
  const rows = await tx<(JobChange & { wasActive: boolean })[]>`
    update pgboss.job j
    set state = 'cancelled', completed_on = now()
    from (
      select name, id, state = 'active' as was_active from pgboss.job
      where name in ('scan', 'analyze', 'index', 'cover', 'hash') and state < 'completed'
        and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${ids})
      order by id
      for no key update
    ) b
    where j.name = b.name and j.id = b.id
    returning ${jobChangeColumns(tx)}, b.was_active as "wasActive"`
  await publishTasks(tx, rows)
  const activeIds = rows.filter(row => row.wasActive).map(row => row.id)
  await signalCancel(tx, activeIds)
}

/** Cancels the scan jobs of scans whose process is gone. The batches they enqueued remain. */
export async function discardScanJobs(
  tx: Queryable,
  libraryId: string,
  scanIds: readonly string[],
) {
  if (scanIds.length === 0) return
  await tx`
    update pgboss.job
    set state = 'cancelled', completed_on = now()
    where name in ('scan', 'analyze') and state < 'completed'
      and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${scanIds as string[]})`
}

/** Signals the processes running these jobs to stop them. */
export async function signalCancel(tx: Queryable, ids: readonly string[]) {
  if (ids.length === 0) return
  await tx`select pg_notify('cancel', id::text) from unnest(${ids as string[]}::uuid[]) as i(id)`
}

/**
 * Makes a library's waiting covers and hashes ready and counts them toward another scan. Jobs of a scan that
 * is being followed (`scan --ndjson`) remain its own, because its records are read. Returns the ids of the
 * scans that had counted them.
 */
export async function reassignToScan(tx: Queryable, libraryId: string, scanId: string) {
  // Reduces the expected counts of the earlier scans, which would otherwise never finish.
  const moved = await tx<{ scanId: string; covers: number; hashes: number }[]>`
    with waiting as materialized (
      select j.name, j.id, j.data->>'scanId' as "scanId", jsonb_array_length(j.data->'ids') as books,
        exists (
          select from scan s
          where s.id = (j.data->>'scanId')::uuid and s.options @> '{"followed": true}') as followed
      from pgboss.job j
      join ${inOrder(tx, tx`name in ('cover', 'hash') and state < 'active' and data->>'libraryId' = ${libraryId}`)}
        on j.name = w.name and j.id = w.id
    ), moving as (
      update pgboss.job j
      set start_after = least(j.start_after, now()),
        data = case when w.followed then j.data
          else j.data || jsonb_build_object('scanId', ${scanId}::text) end
      from waiting w
      where j.name = w.name and j.id = w.id
    )
    select "scanId", coalesce(sum(books) filter (where name = 'cover'), 0)::integer as covers,
      coalesce(sum(books) filter (where name = 'hash'), 0)::integer as hashes
    from waiting
    where not followed and "scanId" <> ${scanId}
    group by "scanId"
    order by "scanId"`
  const taken = { covers: 0, hashes: 0 }
  for (const { scanId: from, covers, hashes } of moved) {
    taken.covers += covers
    taken.hashes += hashes
    await tx`
      update scan
      set to_cover = greatest(to_cover - ${covers}, 0), to_hash = greatest(to_hash - ${hashes}, 0)
      where id = ${from}`
  }
  if (moved.length > 0)
    await tx`
      update scan
      set to_cover = to_cover + ${taken.covers}, to_hash = to_hash + ${taken.hashes}
      where id = ${scanId}`
  return moved.map(({ scanId }) => scanId)
}

/** Delays a library's waiting jobs, for example while its disk is unavailable. */
export async function postpone(sql: Sql, name: JobName, libraryId: string, seconds: number) {
  await sql`
    update pgboss.job j set start_after = now() + make_interval(secs => ${seconds})
    from ${inOrder(sql, sql`name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`)}
    where j.name = w.name and j.id = w.id`
}

/** Makes a library's delayed jobs ready. */
export async function resume(sql: Sql, root: Uint8Array) {
  await sql`
    update pgboss.job j set start_after = now()
    from ${inOrder(
      sql,
      sql`state < 'active' and start_after > now() and data->>'libraryId' = (
        select id::text from library
        where sha256(root) = sha256(${root}::bytea) and deleting_at is null)`,
    )}
    where j.name = w.name and j.id = w.id`
}

/**
 * The jobs matching a condition as `w(name, id)`, locked in id order: otherwise statements on the same jobs
 * could deadlock.
 */
function inOrder(sql: Queryable, condition: Fragment): Fragment {
  return sql`(
    select name, id from pgboss.job where ${condition} order by id for update) w`
}

/** Filters the names to those with jobs that are ready to run, in the same order. */
export async function readyNames(sql: Sql, names: JobName[]): Promise<JobName[]> {
  const rows = await sql<{ name: JobName }[]>`
    select n.name
    from unnest(${names}::text[]) with ordinality as n(name, place)
    where exists (
      select from pgboss.job_common j
      where j.name = n.name and j.state < 'active' and not j.blocked and j.start_after <= now())
    order by n.place`
  return rows.map(row => row.name)
}

/** True while jobs with these names are running or ready to run. */
export async function hasReadyJobs(sql: Sql, names: JobName[]): Promise<boolean> {
  const [row] = await sql`
    select 1 from pgboss.job
    where name in ${sql(names)} and state < 'completed'
      and (state = 'active' or start_after <= now())
    limit 1`
  return row !== undefined
}

/** True while jobs with these names are running or waiting for the library. */
export async function hasJobs(sql: Sql, libraryId: string, names: JobName[]): Promise<boolean> {
  const [row] = await sql`
    select 1 from pgboss.job
    where name in ${sql(names)} and state < 'completed' and data->>'libraryId' = ${libraryId}
    limit 1`
  return row !== undefined
}
