// Lists that are made by a statement while there is no index: half of the connections at most, so that other requests
// always find one. A statement ends by the time limit of its pool (`list.timeout_seconds`).
import type { Sql } from 'postgres'
import { createSemaphore } from '../base/async/semaphore.ts'
import { Unavailable } from '../base/errors.ts'

/** A list that has waited for so long would take too long with its statement. */
const maxWaitMs = 10_000

/** Throws Unavailable if its turn does not come in time. */
export type StatementGate = <T>(read: () => Promise<T>) => Promise<T>

export function createStatementGate(pool: Sql): StatementGate {
  const gate = createSemaphore({ slots: Math.max(1, Math.floor(pool.options.max / 2)) })
  return async read => {
    const { signal, clear } = createDeadline(maxWaitMs)
    let isAdmitted = false
    try {
      return await gate.run(
        async () => {
          isAdmitted = true
          clear()
          return await read()
        },
        { signal },
      )
    } catch (error) {
      if (isAdmitted || !signal.aborted) throw error
      throw new Unavailable('Too many lists are being read from the database; try again later')
    } finally {
      clear()
    }
  }
}

function createDeadline(ms: number) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
