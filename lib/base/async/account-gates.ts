// Gates per account: limit how much work of one account runs at once and how much waits.
import { RateLimited } from '../errors.ts'
import { createSemaphore } from './semaphore.ts'

type Bounds = {
  running: number
  waiting: number
  /** Message of the RateLimited error. */
  message: string
}

const retryAfterSeconds = 2

/**
 * Runs `work` in the order in which the account called. Throws RateLimited when too many calls of the account
 * are waiting, Unavailable when `signal` aborts first. An idle account takes no memory.
 */
export function createAccountGates({ running, waiting, message }: Bounds) {
  const gates = new Map<string, { gate: ReturnType<typeof createSemaphore>; users: number }>()
  return async <T>(accountId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const entry = gates.get(accountId) ?? { gate: createSemaphore({ slots: running }), users: 0 }
    if (entry.users >= running + waiting) throw new RateLimited(message, retryAfterSeconds)
    gates.set(accountId, entry)
    entry.users += 1
    try {
      return await entry.gate.run(work, { signal })
    } finally {
      entry.users -= 1
      if (entry.users === 0) gates.delete(accountId)
    }
  }
}
