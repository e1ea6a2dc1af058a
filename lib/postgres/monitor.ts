// Database monitor of a process: whether the database is available, noticed by a connection of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { openDedicatedConnection, type Sql } from './db.ts'

export type DatabaseMonitor = {
  /** False from the loss of the database until it responds again. */
  isAvailable(): boolean
  close(): Promise<void>
}

const probeMs = 200

/** Logs one message when the database is lost and one when it is back. */
export async function openDatabaseMonitor(
  sql: Sql,
  log: Pick<Log, 'warn' | 'info'>,
): Promise<DatabaseMonitor> {
  let isAvailable = true
  let isProbing = false
  let isClosed = false
  const connection = openDedicatedConnection(sql, () => void probe())

  // A connection that an administrator terminated is replaced by the first attempt.
  async function probe() {
    if (isProbing) return
    isProbing = true
    const lostAt = performance.now()
    while (!isClosed) {
      const { code } = await connection.sql`select 1`.then(
        () => ({ code: null }),
        error => ({ code: String(error.code ?? error) }),
      )
      if (code === null) break
      if (isAvailable && !isClosed) log.warn({ code }, 'the database is not available')
      isAvailable = false
      await sleep(probeMs, undefined, { ref: false })
    }
    isProbing = false
    if (isAvailable || isClosed) return
    isAvailable = true
    log.info({ ms: Math.round(performance.now() - lostAt) }, 'the database is available again')
  }

  await connection.sql`select 1`
  return {
    isAvailable: () => isAvailable,
    async close() {
      isClosed = true
      await connection.close()
    },
  }
}
