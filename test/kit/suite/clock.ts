// The clock of this process, which a test sets ahead instead of waiting.
import type { Scope } from '../db.ts'

/** Returns a function that sets `Date.now` ahead by more milliseconds, until the end of `t`. */
export function useClock(t: Scope): (ms: number) => void {
  const { now } = Date
  let aheadMs = 0
  Date.now = () => now() + aheadMs
  t.teardown(() => {
    Date.now = now
  })
  return ms => {
    aheadMs += ms
  }
}
