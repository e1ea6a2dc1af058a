// The queues and the indexes on their jobs, made when the queue is opened.
import type { PgBoss } from 'pg-boss'
import type { Sql } from 'postgres'
import { jobNames, queues } from './jobs.ts'

/** Makes the queues, and brings those of an earlier version to what is written in names.ts. */
export async function prepareQueues(boss: PgBoss) {
  const known = new Map((await boss.getQueues()).map(queue => [queue.name, queue]))
  for (const name of jobNames) {
    const { policy, ...wanted } = queues[name]
    const queue = known.get(name) as Record<string, unknown> | undefined
    if (!queue) await boss.createQueue(name, { policy, ...wanted } as Queues)
    else if (Object.entries(wanted).some(([key, value]) => queue[key] !== value))
      await boss.updateQueue(name, wanted)
  }
}

type Queues = Parameters<PgBoss['createQueue']>[1]

/**
 * What pg-boss has no index for: lanes ask many times a second whether a library has work, and tasks
 * are listed newest first by state and library. Ids are time-ordered. Every claim pays for each.
 */
export async function indexJobs(sql: Sql) {
  const [row] = await sql`
    select to_regclass('pgboss.job_by_state') is not null
      and to_regclass('pgboss.job_by_library') is not null as there`
  if (row!.there) return
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.jobs'))`
    // On the partition that holds the jobs: their parent is empty.
    await tx`
      create index if not exists job_by_state on pgboss.job_common (name, state, id)`
    await tx`
      create index if not exists job_by_library
      on pgboss.job_common ((data->>'libraryId'), name, state, id)`
    await tx`drop index if exists pgboss.job_of_library`
  })
}
