// Jobs that wait, as scans and libraries steer them: taken out, put off, counted for another scan.
import type { Sql, TransactionSql } from 'postgres'
import { movedColumns } from './complete.ts'
import type { JobName } from './jobs.ts'
import { type Moved, tellTasks } from './task-events.ts'

type Tx = Sql | TransactionSql

/** Takes waiting jobs of a library out of a lane. */
export async function withdraw(tx: Tx, name: JobName, libraryId: string) {
  await tx`
    delete from pgboss.job
    where name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`
}

/**
 * Calls off all work of scans of a library: their own jobs, and what they left to the lanes. Waiting
 * batches go without a trace; processes that are at one stop at its next safe point.
 */
export async function callOffScans(tx: Tx, libraryId: string, scanIds: readonly string[]) {
  if (scanIds.length === 0) return
  const ids = scanIds as string[]
  await tx`
    delete from pgboss.job
    where name in ('index', 'cover', 'hash') and state < 'active'
      and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${ids})`
  const rows = await tx<(Moved & { wasActive: boolean })[]>`
    update pgboss.job j
    set state = 'cancelled', completed_on = now()
    from (
      select name, id, state = 'active' as was_active from pgboss.job
      where name in ('scan', 'analyze', 'index', 'cover', 'hash') and state < 'completed'
        and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${ids})
      for no key update
    ) b
    where j.name = b.name and j.id = b.id
    returning ${movedColumns(tx)}, b.was_active as "wasActive"`
  await tellTasks(tx, rows)
  await stopWork(
    tx,
    rows.filter(row => row.wasActive).map(row => row.id),
  )
}

/** The jobs of scans that will not be run: who ran them is gone. What they left to the lanes stays. */
export async function dropScanJobs(tx: Tx, libraryId: string, scanIds: readonly string[]) {
  if (scanIds.length === 0) return
  await tx`
    update pgboss.job
    set state = 'cancelled', completed_on = now()
    where name in ('scan', 'analyze') and state < 'completed'
      and data->>'libraryId' = ${libraryId} and data->>'scanId' = any(${scanIds as string[]})`
}

/** Tells the processes that are at these jobs to stop. */
export async function stopWork(tx: Tx, ids: readonly string[]) {
  if (ids.length === 0) return
  await tx`select pg_notify('cancel', id::text) from unnest(${ids as string[]}::uuid[]) as i(id)`
}

/**
 * Lets the waiting covers and hashes of a library count for another scan, and begin at once. Those of
 * a scan that is followed stay its own, because its records are read.
 */
export async function reassign(tx: Tx, libraryId: string, scanId: string) {
  await tx`
    update pgboss.job j
    set start_after = least(j.start_after, now()),
      data = case
        when exists (
          select from scan s
          where s.id = (j.data->>'scanId')::uuid and s.options @> '{"followed": true}')
        then j.data
        else j.data || jsonb_build_object('scanId', ${scanId}::text) end
    where name in ('cover', 'hash') and state < 'active' and data->>'libraryId' = ${libraryId}`
}

/** Lets the waiting jobs of a library in a lane rest, because its disk is away. */
export async function postpone(sql: Sql, name: JobName, libraryId: string, seconds: number) {
  await sql`
    update pgboss.job set start_after = now() + make_interval(secs => ${seconds})
    where name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`
}

/** True while jobs of the lanes run or could begin, whoever's they are. */
export async function pending(sql: Sql, names: JobName[]): Promise<boolean> {
  const [row] = await sql`
    select 1 from pgboss.job
    where name in ${sql(names)} and state < 'completed'
      and (state = 'active' or start_after <= now())
    limit 1`
  return row !== undefined
}

/** True while any of the lanes holds work for the library, running or waiting. */
export async function busy(sql: Sql, libraryId: string, names: JobName[]): Promise<boolean> {
  const [row] = await sql`
    select 1 from pgboss.job
    where name in ${sql(names)} and state < 'completed' and data->>'libraryId' = ${libraryId}
    limit 1`
  return row !== undefined
}
