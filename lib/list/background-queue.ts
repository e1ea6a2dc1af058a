// What lists read in the background, one at a time.
import type { Sql } from 'postgres'
import { noteFailedReading } from './background-failures.ts'

export type BackgroundQueue = {
  /** After a failure, which is noted, lists are as slow as they are without what was to be read. Never rejects. */
  add(pool: Sql, read: () => Promise<void>): Promise<void>
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

/** `what` is read: the name in logs and metrics. */
export function createBackgroundQueue(what: string): BackgroundQueue {
  let last: Promise<void> = Promise.resolve()
  return {
    add(pool, read) {
      last = last.then(read).catch(error => noteFailedReading(pool, what, error))
      return last
    },
    async idle() {
      for (let awaited: unknown; awaited !== last; ) {
        awaited = last
        await last
      }
    },
  }
}
