// What loops sleep by: a pause that a ring ends early.

export type Bell = ReturnType<typeof openBell>

export function openBell() {
  const sleepers = new Set<() => void>()
  let times = 0
  return {
    /** How often it has rung. */
    rung: () => times,
    ring() {
      times++
      for (const sleeper of sleepers) sleeper()
    },
    /** Resolves when it rings, or after so many milliseconds; at once if it rang after `since` rings. */
    heard(ms: number, since = times) {
      return new Promise<void>(resolve => {
        if (since !== times) return resolve()
        const done = () => {
          clearTimeout(timer)
          sleepers.delete(done)
          resolve()
        }
        const timer = setTimeout(done, ms)
        sleepers.add(done)
      })
    },
  }
}
