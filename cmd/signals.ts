// Termination signals SIGINT and SIGTERM: distinguishes a signal delivered twice from a person's second one.

const names = ['SIGINT', 'SIGTERM'] as const

// A service manager and a process group signal both the launcher and this process, and the launcher forwards
// it.
const minIntervalMs = 1_000

/**
 * Calls `onFirst` on the first signal and `onSecond` on one at least a second later, until the returned
 * function is called.
 */
export function onTermination(
  onFirst: (signal: NodeJS.Signals) => void,
  onSecond: (signal: NodeJS.Signals) => void,
): () => void {
  let firstAt: number | null = null
  const receive = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt === null) {
      firstAt = now
      onFirst(name)
    } else if (now - firstAt >= minIntervalMs) onSecond(name)
  }
  for (const name of names) process.on(name, receive)
  return () => {
    for (const name of names) process.off(name, receive)
  }
}
