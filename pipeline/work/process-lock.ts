// Advisory lock of processes that run jobs: each holds it shared, so a process that could take it exclusively
// is the first one and reclaims the jobs of dead processes.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DedicatedConnection,
  openDedicatedConnection,
  type Sql,
} from '../../lib/store/postgres/db.ts'

const retryMs = 250

export type Membership = {
  connection: DedicatedConnection
  isFirst: boolean
  leave(): Promise<void>
}

/** Whether any process runs jobs. Reads the locks only: taking this one would disturb a process that is joining. */
export async function hasWorkers(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isHeld: boolean }[]>`
    select exists (
      select from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32) | objid::bigint = hashtext('stackroom.workers')
    ) as "isHeld"`
  return row!.isHeld
}

/** `reclaim` is called if no other process runs jobs, and before another one can join. */
export async function joinWorkers(sql: Sql, reclaim: () => Promise<unknown>): Promise<Membership> {
  let hasLeft = false
  const lockShared = () =>
    connection.sql`select pg_advisory_lock_shared(hashtext('stackroom.workers'))`
  // The lock ends with its connection; without it the next process would consider itself the first.
  const relock = async () => {
    while (!hasLeft) {
      try {
        await lockShared()
        return
      } catch {
        await sleep(retryMs, undefined, { ref: false })
      }
    }
  }
  const connection = openDedicatedConnection(sql, () => void relock())
  const leave = async () => {
    hasLeft = true
    await connection.close()
  }
  try {
    const [row] = await connection.sql<{ isFirst: boolean }[]>`
      select pg_try_advisory_lock(hashtext('stackroom.workers')) as "isFirst"`
    const { isFirst } = row!
    if (isFirst) await reclaim()
    await lockShared()
    if (isFirst) await connection.sql`select pg_advisory_unlock(hashtext('stackroom.workers'))`
    return { connection, isFirst, leave }
  } catch (error) {
    await leave()
    throw error
  }
}
