// Termination signals: SIGINT and SIGTERM, the same one delivered twice, and the second one of a person.

// A service manager and a process group signal the launcher and this process, and the launcher forwards it.
const minIntervalMs = 1_000

/** Calls `onFirst` at the first signal and `onSecond` at one at least a second later. */
export function onTermination(onFirst: (signal: NodeJS.Signals) => void, onSecond: () => void) {
  let firstAt: number | null = null
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      const now = performance.now()
      if (firstAt === null) {
        firstAt = now
        onFirst(name)
      } else if (now - firstAt >= minIntervalMs) onSecond()
    })
}
