// The queue: pg-boss on our own driver. Delivery is at least once, so every job can be run again.
import { PgBoss } from 'pg-boss'
import type { Sql, TransactionSql } from 'postgres'
import { newId } from './id.ts'

/** Every job and its payload. `ids` are at most one batch; `again` hashes what has a hash already. */
export type Jobs = {
  scan: { scanId: string; libraryId: string }
  index: { scanId: string; libraryId: string; ids: string[] }
  cover: { scanId: string; libraryId: string; ids: string[] }
  hash: { scanId: string; libraryId: string; ids: string[]; again?: true }
  /** `asked`: a user waits for it. */
  dedupe: { libraryId?: string; asked?: true }
  erase: { libraryId: string }
}
export type JobName = keyof Jobs

// A job may wait for weeks behind a library of terabytes; pg-boss deletes what waits too long.
const common = {
  heartbeatSeconds: 30,
  expireInSeconds: 82_800,
  retentionSeconds: 10 * 365 * 86_400,
  deleteAfterSeconds: 3_600,
  retryBackoff: true,
}
const quick = { ...common, retryLimit: 5, retryDelay: 1, retryDelayMax: 60 }
// A mount or a full disk takes its time to come back. What is given up is due at the next scan's end.
const patient = { ...common, retryLimit: 8, retryDelay: 5, retryDelayMax: 300 }

// `dedupe`, `erase` and `scan` keep one waiting job a key: a request that arrives while the same work runs
// waits for its turn, a second one waiting would only do the same again.
const queues = {
  scan: { policy: 'short', ...quick },
  index: { policy: 'standard', ...quick },
  cover: { policy: 'standard', ...patient },
  hash: { policy: 'standard', ...patient },
  dedupe: { policy: 'short', ...quick },
  erase: { policy: 'short', ...patient },
} satisfies Record<JobName, object>
export const jobNames = Object.keys(queues) as JobName[]

export type Queue = Awaited<ReturnType<typeof openQueue>>

type Tx = Sql | TransactionSql

/** Starts pg-boss on `sql`; its own upkeep runs there as well. */
export async function openQueue(sql: Sql, onError: (error: Error) => void) {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => executeOwn(sql, text, values) },
    schedule: false,
    warningQueueSize: 1_000_000,
  })
  boss.on('error', onError)
  boss.on('warning', () => {})
  await boss.start()
  await prepareQueues(boss)
  await indexJobs(sql)
  return {
    boss,
    /** Enqueues within the caller's transaction; answers the ids of the jobs. */
    async send<N extends JobName>(
      tx: Tx,
      name: N,
      jobs: Jobs[N][],
      options: { priority?: number; key?: string; afterSeconds?: number } = {},
    ) {
      if (jobs.length === 0) return []
      const rows = jobs.map(data => ({
        id: newId(),
        data,
        priority: options.priority ?? 0,
        ...(options.key ? { singletonKey: options.key } : {}),
        ...(options.afterSeconds ? { startAfter: options.afterSeconds } : {}),
      }))
      await boss.insert(name, rows, {
        db: { executeSql: (text, values) => execute(tx, text, values) },
      })
      return rows.map(row => row.id)
    },
    /** Takes the first waiting jobs of a lane, at most `most`. */
    take<N extends JobName>(name: N, most = 1): Promise<{ id: string; data: Jobs[N] }[]> {
      return boss.fetch<Jobs[N]>(name, { batchSize: most })
    },
    /** Jobs that were begun and not ended: whoever comes next goes on with what is left of them. */
    async giveBack(name: JobName, ids: string[]) {
      await sql`
        update pgboss.job set state = 'retry', started_on = null
        where name = ${name} and id = any(${ids}) and state = 'active'`
    },
    /** Takes waiting jobs of a library out of a lane. */
    async withdraw(tx: Tx, name: JobName, libraryId: string) {
      await tx`
        delete from pgboss.job
        where name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`
    },
    /**
     * Lets the waiting covers and hashes of a library count for another scan, and begin at once. Those
     * of a scan that is followed stay its own, because its records are read.
     */
    async reassign(tx: Tx, libraryId: string, scanId: string) {
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
    },
    /** Lets the waiting jobs of a library in a lane rest, because its disk is away. */
    async postpone(name: JobName, libraryId: string, seconds: number) {
      await sql`
        update pgboss.job set start_after = now() + make_interval(secs => ${seconds})
        where name = ${name} and state < 'active' and data->>'libraryId' = ${libraryId}`
    },
    /** True while jobs of the lanes run or could begin, whoever's they are. */
    async pending(names: JobName[]): Promise<boolean> {
      const [row] = await sql`
        select 1 from pgboss.job
        where name in ${sql(names)} and state < 'completed'
          and (state = 'active' or start_after <= now())
        limit 1`
      return row !== undefined
    },
    /** True while any of the lanes holds work for the library, running or waiting. */
    async busy(libraryId: string, names: JobName[]): Promise<boolean> {
      const [row] = await sql`
        select 1 from pgboss.job
        where name in ${sql(names)} and state < 'completed' and data->>'libraryId' = ${libraryId}
        limit 1`
      return row !== undefined
    },
    /** Makes jobs that a dead process held available again; only for a process that is alone on the database. */
    async reclaim() {
      await sql`
        update pgboss.job
        set state = 'retry', started_on = null
        where state = 'active' and name in ${sql(jobNames)}`
    },
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** Makes the queues, and brings those of an earlier version to what is written here. */
async function prepareQueues(boss: PgBoss) {
  const known = new Map((await boss.getQueues()).map(queue => [queue.name, queue]))
  for (const name of jobNames) {
    const { policy, ...wanted } = queues[name]
    const queue = known.get(name) as Row | undefined
    if (!queue) await boss.createQueue(name, { policy, ...wanted } as Queues)
    else if (Object.entries(wanted).some(([key, value]) => queue[key] !== value))
      await boss.updateQueue(name, wanted)
  }
}

type Queues = Parameters<PgBoss['createQueue']>[1]

/** Lanes ask many times a second whether a library has work; pg-boss has no index for that. */
async function indexJobs(sql: Sql) {
  const [row] = await sql`select to_regclass('pgboss.job_of_library') is not null as there`
  if (row!.there) return
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.jobs'))`
    // On the partition that holds the jobs: their parent is empty.
    await tx`
      create index if not exists job_of_library
      on pgboss.job_common (name, (data->>'libraryId'))
      where state < 'completed'`
  })
}

// The driver refuses a transaction on a pool; pg-boss sends some as one text.
async function executeOwn(sql: Sql, text: string, values?: unknown[]) {
  if (!/^\s*begin\b/i.test(text)) return execute(sql, text, values)
  const held = await sql.reserve()
  try {
    return await execute(held, text, values)
  } finally {
    held.release()
  }
}

// pg-boss speaks node-postgres: numbered parameters, several statements in one text.
async function execute(sql: Tx, text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
  if (!values || values.length === 0) {
    const result = await sql.unsafe(text).simple()
    return { rows: flat(result) }
  }
  // Text type for strings, so that JSON already encoded is not encoded again.
  const typed = values.map(v => (typeof v === 'string' ? sql.typed(v as never, 25) : v))
  const result = await sql.unsafe(text, typed as never[], { prepare: true })
  return { rows: flat(result) }
}

type Row = Record<string, unknown>

// Several statements give several results, of which pg-boss wants the rows of all.
function flat(result: readonly unknown[]): Row[] {
  return (Array.isArray(result[0]) ? result.flat() : [...result]) as Row[]
}
