// Queue setup: creates pg-boss's queues, and additional columns and indexes for its jobs.
import type { PgBoss } from 'pg-boss'
import type { Sql } from '../postgres/db.ts'
import { jobNames, jobTypes } from './jobs.ts'

/** Creates missing queues, and updates the options of existing ones from jobs.ts. */
export async function prepareQueues(boss: PgBoss) {
  const existing = new Map((await boss.getQueues()).map(queue => [queue.name, queue]))
  for (const name of jobNames) {
    const { policy, ...options } = jobTypes[name].queue
    const queue = existing.get(name) as Record<string, unknown> | undefined
    if (!queue) await boss.createQueue(name, { policy, ...options } as QueueOptions)
    else if (Object.entries(options).some(([key, value]) => queue[key] !== value))
      await boss.updateQueue(name, options)
  }
}

type QueueOptions = Parameters<PgBoss['createQueue']>[1]

/**
 * Adds columns for the process that runs or ran a job, and indexes that pg-boss lacks: scans check many times
 * a second whether a library has jobs, and tasks are listed newest first by state and library. Ids are
 * time-ordered. Every claim updates both.
 */
export async function extendJobs(sql: Sql) {
  const [row] = await sql`
    select to_regclass('pgboss.job_by_state') is not null
      and to_regclass('pgboss.job_by_library') is not null
      and exists (
        select from pg_attribute
        where attrelid = to_regclass('pgboss.job') and attname = 'pid') as exists`
  if (row!.exists) return
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.jobs'))`
    await tx`
      alter table pgboss.job
        add column if not exists host text, add column if not exists pid integer`
    // On the partition that holds the jobs: the parent table is empty.
    await tx`
      create index if not exists job_by_state on pgboss.job_common (name, state, id)`
    await tx`
      create index if not exists job_by_library
      on pgboss.job_common ((data->>'libraryId'), name, state, id)`
  })
}
