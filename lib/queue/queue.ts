// The queue: pg-boss on our own driver. Delivery is at least once, so every job can be run again.
import { PgBoss } from 'pg-boss'
import type { Sql, TransactionSql } from 'postgres'
import { newId } from '../id.ts'
import { openSession } from '../postgres/db.ts'
import { endDead, type Taken } from './complete.ts'
import * as steer from './control.ts'
import { isBulk, type JobName, type Jobs } from './jobs.ts'
import { onPool, within } from './pgboss-driver.ts'
import { indexJobs, prepareQueues } from './prepare.ts'
import { tellTasks } from './task-events.ts'

export type { JobName, Jobs } from './jobs.ts'

export type Queue = Awaited<ReturnType<typeof openQueue>>

type Tx = Sql | TransactionSql

/** `key` makes one of all that wait under it; `ids` names the jobs, anew if they have ended. */
type Sending = { priority?: number; key?: string; afterSeconds?: number; ids?: string[] }

/**
 * Starts pg-boss on `sql`. It looks after nothing: dead processes and old jobs are the business of
 * those that work (lib/jobs/mind.ts), because its own pass over the table takes seconds at a million.
 */
export async function openQueue(sql: Sql, onError: (error: Error) => void) {
  const boss = new PgBoss({ db: onPool(sql), schedule: false, supervise: false })
  boss.on('error', onError)
  boss.on('warning', () => {})
  await alone(sql, async () => {
    await boss.start()
    await prepareQueues(boss)
    await indexJobs(sql)
  })
  return {
    /** Enqueues within the caller's transaction, and wakes who waits; answers the ids of the jobs, with a key that of the job that waits. */
    send: <N extends JobName>(tx: Tx, name: N, jobs: Jobs[N][], sending: Sending = {}) =>
      send(boss, tx, { name, jobs, ...sending }),
    /** Takes the first waiting jobs of a lane, at most `most`. */
    async take<N extends JobName>(name: N, most = 1): Promise<Taken<N>[]> {
      const jobs = await boss.fetch<Jobs[N]>(name, { batchSize: most, includeMetadata: true })
      return jobs.map(({ id, data, retryCount, createdOn, startedOn }) => ({
        id,
        name,
        data,
        attempt: retryCount,
        createdAt: createdOn,
        startedAt: startedOn,
      }))
    },
    withdraw: steer.withdraw,
    callOffScans: steer.callOffScans,
    dropScanJobs: steer.dropScanJobs,
    reassign: steer.reassign,
    postpone: (name: JobName, libraryId: string, seconds: number) =>
      steer.postpone(sql, name, libraryId, seconds),
    pending: (names: JobName[]) => steer.pending(sql, names),
    busy: (libraryId: string, names: JobName[]) => steer.busy(sql, libraryId, names),
    /** Makes jobs that a dead process held available again; only for a process that is alone on the database. */
    reclaim: () => endDead(sql, { all: true }),
    /** Statements that make bloated indexes of the jobs small again; run each on its own. */
    reindexing: () => boss.getReindexCommands(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** Processes that start together on an empty database would make the same tables at once. */
async function alone(sql: Sql, prepare: () => Promise<void>) {
  const session = openSession(sql)
  try {
    await session.sql`select pg_advisory_lock(hashtext('stackroom.queue'))`
    await prepare()
  } finally {
    await session.close()
  }
}

type Sent<N extends JobName> = Sending & { name: N; jobs: Jobs[N][] }

async function send<N extends JobName>(boss: PgBoss, tx: Tx, sent: Sent<N>): Promise<string[]> {
  const { name, jobs, key, ids, afterSeconds } = sent
  if (jobs.length === 0) return []
  if (ids)
    await tx`
      delete from pgboss.job where name = ${name} and id = any(${ids}) and state >= 'completed'`
  const rows = jobs.map((data, i) => ({
    id: ids?.[i] ?? newId(),
    data,
    priority: sent.priority ?? 0,
    ...(key ? { singletonKey: key } : {}),
    ...(afterSeconds ? { startAfter: afterSeconds } : {}),
  }))
  const options: InsertOptions = { db: within(tx), returnId: true }
  let made = await boss.insert(name, rows, options)
  while (made === null && key && !ids) {
    const waiting = await hasten(tx, sent)
    if (waiting) return [waiting]
    // What waited was taken in this moment.
    made = await boss.insert(name, rows, options)
  }
  if (made !== null && !isBulk(name)) await announce(tx, name, rows, !afterSeconds)
  return rows.map(row => row.id)
}

// Types of pg-boss leave out what its documentation offers.
type InsertOptions = Parameters<PgBoss['insert']>[2] & { returnId: true }

/**
 * Makes the job that waits do for this request too. It is locked until the transaction ends: nobody
 * takes it before what the request is about can be seen.
 */
async function hasten<N extends JobName>(tx: Tx, sent: Sent<N>): Promise<string | null> {
  const { name, jobs, key = '', priority = 0, afterSeconds = 0 } = sent
  const [row] = await tx<{ id: string }[]>`
    update pgboss.job
    set priority = greatest(priority, ${priority}), data = data || ${tx.json(jobs[0] as never)},
      start_after = least(start_after, now() + make_interval(secs => ${afterSeconds}))
    where name = ${name} and coalesce(singleton_key, '') = ${key} and state = 'created'
      and policy = 'short'
    returning id`
  return row?.id ?? null
}

async function announce(tx: Tx, name: JobName, rows: { id: string; data: object }[], now: boolean) {
  const createdAt = new Date()
  await tellTasks(
    tx,
    rows.map(({ id, data }) => ({ id, name, data, state: 'created', createdAt })),
  )
  if (now) await tx`select pg_notify('work', ${name})`
}
