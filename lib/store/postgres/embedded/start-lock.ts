// Inter-process lock for starting, adopting and stopping the bundled server.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict } from '../../../base/errors.ts'

// Stands in for flock(), which Node lacks: an exclusive SQLite lock on an empty file. The kernel releases it
// when the process dies, so it is never stale, and it works between containers that share a volume, where a
// pid is meaningless.
const pollMs = 20
const sqliteBusy = 5

type LockOptions = { timeoutMs?: number; signal?: AbortSignal | undefined }

/**
 * Runs `work` while holding the lock of a data directory. Throws Conflict after `timeoutMs`, or when aborted.
 */
export async function withStartLock<T>(
  dataDir: string,
  work: () => Promise<T>,
  { timeoutMs = 660_000, signal }: LockOptions = {},
): Promise<T> {
  const database = new DatabaseSync(join(dataDir, 'postgres-start.lock'))
  try {
    const deadline = performance.now() + timeoutMs
    while (!tryLock(database)) {
      if (signal?.aborted || performance.now() > deadline) {
        throw new Conflict('Another Stackroom process is starting or stopping the database')
      }
      await sleep(pollMs)
    }
    return await work()
  } finally {
    database.close()
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    // No journal file: the lock has to work on a full disk.
    database.exec('pragma journal_mode = memory; pragma busy_timeout = 0; begin exclusive')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === sqliteBusy) return false
    throw error
  }
}
