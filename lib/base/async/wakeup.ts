// Wakeup signal for polling loops: a sleep that `notify` ends early.

export type Wakeup = ReturnType<typeof createWakeup>

export function createWakeup() {
  const sleepers = new Set<() => void>()
  let count = 0
  return {
    /** Number of calls of `notify` so far; passing it to `wait` prevents a lost wakeup. */
    notifyCount: () => count,
    notify() {
      count += 1
      for (const wake of sleepers) wake()
    },
    /** Resolves on `notify` or after `ms`; at once if `notify` was called after the count was `since`. */
    wait(ms: number, since = count) {
      return new Promise<void>(resolve => {
        if (since !== count) return resolve()
        const wake = () => {
          clearTimeout(timer)
          sleepers.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        sleepers.add(wake)
      })
    },
  }
}
