// One process at a time decides about the server: start it, join it, stop it.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict } from '../../errors.ts'

// Node has no flock. SQLite's exclusive lock on an empty file is one: the kernel drops it when the
// process dies, so it is never stale, and it holds between containers that share a volume, where a
// recorded pid means nothing.
const pollMs = 20
const busy = 5

/** Runs `decide` while no other process is inside for the same data directory. Throws Conflict after `timeoutMs`. */
export async function throughGate<T>(
  dataDir: string,
  decide: () => Promise<T>,
  timeoutMs = 660_000,
): Promise<T> {
  const gate = new DatabaseSync(join(dataDir, 'postgres.gate'))
  try {
    const deadline = performance.now() + timeoutMs
    while (!enter(gate)) {
      if (performance.now() > deadline) {
        throw new Conflict('Another Stackroom process is starting or stopping the database')
      }
      await sleep(pollMs)
    }
    return await decide()
  } finally {
    gate.close()
  }
}

function enter(gate: DatabaseSync): boolean {
  try {
    gate.exec('pragma busy_timeout = 0; begin exclusive')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false
    throw error
  }
}
