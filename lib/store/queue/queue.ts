// Job queue: pg-boss on our own driver. Delivery is at least once, so every job must be repeatable.
import { PgBoss } from 'pg-boss'
import { newId } from '../../base/id.ts'
import { openDedicatedConnection, type Queryable, type Sql } from '../postgres/db.ts'
import { type ClaimedJob, type FailureHook, reclaimStale } from './complete.ts'
import * as control from './control.ts'
import { isBulk, type JobName, type Jobs } from './jobs.ts'
import { onPool, within } from './pgboss-driver.ts'
import { extendJobs, prepareQueues } from './prepare.ts'
import { publishTasks } from './task-events.ts'

export type { JobName, Jobs } from './jobs.ts'

export type Queue = Awaited<ReturnType<typeof openQueue>>

/** `key` allows only one waiting job; `ids` are the jobs' ids, which are reused if those jobs have ended. */
type SendOptions = { priority?: number; key?: string; afterSeconds?: number; ids?: string[] }

/** Starts pg-boss on `sql`, without its supervisor (see maintenance.ts) and scheduler. */
export async function openQueue(sql: Sql, onError: (error: Error) => void) {
  const boss = new PgBoss({ db: onPool(sql), schedule: false, supervise: false })
  boss.on('error', onError)
  boss.on('warning', () => {})
  await withSetupLock(sql, async () => {
    await boss.start()
    await prepareQueues(boss)
    await extendJobs(sql)
  })
  return {
    /**
     * Enqueues jobs within the caller's transaction and wakes idle workers. Returns the jobs' ids; with a
     * key, the id of the job already waiting.
     */
    send: <N extends JobName>(
      tx: Queryable,
      name: N,
      jobs: Jobs[N][],
      options: SendOptions = {},
    ): Promise<string[]> => send(boss, tx, { name, jobs, ...options }),
    /** Claims the first ready jobs of a queue, at most `limit`. */
    async claim<N extends JobName>(name: N, limit = 1): Promise<ClaimedJob<N>[]> {
      const jobs = await boss.fetch<Jobs[N]>(name, { batchSize: limit, includeMetadata: true })
      return jobs.map(({ id, data, retryCount, createdOn, startedOn }) => ({
        id,
        name,
        data,
        attempt: retryCount,
        createdAt: createdOn,
        startedAt: startedOn,
      }))
    },
    deleteWaiting: control.deleteWaiting,
    cancelScans: control.cancelScans,
    discardScanJobs: control.discardScanJobs,
    reassignToScan: control.reassignToScan,
    postpone: (name: JobName, libraryId: string, seconds: number) =>
      control.postpone(sql, name, libraryId, seconds),
    resume: (root: Uint8Array) => control.resume(sql, root),
    readyNames: (names: JobName[]) => control.readyNames(sql, names),
    hasReadyJobs: (names: JobName[]) => control.hasReadyJobs(sql, names),
    hasJobs: (libraryId: string, names: JobName[]) => control.hasJobs(sql, libraryId, names),
    /** Makes all running jobs available again; only for a process that is alone on the database. */
    reclaimAll: (onFailed?: FailureHook) => reclaimStale(sql, { all: true, onFailed }),
    /** Statements that rebuild bloated job indexes; each must run outside a transaction. */
    reindexStatements: () => boss.getReindexCommands(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** Serializes setup: processes that start together on an empty database would create the same tables. */
async function withSetupLock(sql: Sql, setUp: () => Promise<void>) {
  const session = openDedicatedConnection(sql)
  try {
    await session.sql`select pg_advisory_lock(hashtext('stackroom.queue'))`
    await setUp()
  } finally {
    await session.close()
  }
}

type Request<N extends JobName> = SendOptions & { name: N; jobs: Jobs[N][] }

async function send<N extends JobName>(boss: PgBoss, tx: Queryable, request: Request<N>) {
  const { name, jobs, key, ids, afterSeconds } = request
  if (jobs.length === 0) return []
  if (ids)
    await tx`
      delete from pgboss.job where name = ${name} and id = any(${ids}) and state >= 'completed'`
  const rows = jobs.map((data, i) => ({
    id: ids?.[i] ?? newId(),
    data,
    priority: request.priority ?? 0,
    ...(key ? { singletonKey: key } : {}),
    ...(afterSeconds ? { startAfter: afterSeconds } : {}),
  }))
  const options: InsertOptions = { db: within(tx), returnId: true }
  let inserted = await boss.insert(name, rows, options)
  while (inserted === null && key && !ids) {
    const waitingId = await mergeIntoWaiting(tx, request)
    if (waitingId) return [waitingId]
    // The waiting job has just been claimed.
    inserted = await boss.insert(name, rows, options)
  }
  if (inserted !== null && !isBulk(name)) await publishCreated(tx, name, rows, !afterSeconds)
  return rows.map(row => row.id)
}

// pg-boss's types lack an option that its documentation describes.
type InsertOptions = Parameters<PgBoss['insert']>[2] & { returnId: true }

/**
 * Lets the waiting job serve this request too. The row stays locked until the transaction ends, so no worker
 * claims it before the changes it is about become visible.
 */
async function mergeIntoWaiting<N extends JobName>(
  tx: Queryable,
  { name, jobs, key = '', priority = 0, afterSeconds = 0 }: Request<N>,
): Promise<string | null> {
  const [row] = await tx<{ id: string }[]>`
    update pgboss.job
    set priority = greatest(priority, ${priority}), data = data || ${tx.json(jobs[0] as never)},
      start_after = least(start_after, now() + make_interval(secs => ${afterSeconds}))
    where name = ${name} and coalesce(singleton_key, '') = ${key} and state = 'created'
      and policy = 'short'
    returning id`
  return row?.id ?? null
}

async function publishCreated(
  tx: Queryable,
  name: JobName,
  rows: { id: string; data: object }[],
  isReady: boolean,
) {
  const common = { name, state: 'created', createdAt: new Date() } as const
  const changes = rows.map(({ id, data }) => ({ ...common, id, data }))
  await publishTasks(tx, changes)
  if (isReady) await tx`select pg_notify('work', ${name})`
}
