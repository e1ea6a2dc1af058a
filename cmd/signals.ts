// Termination signals: SIGINT and SIGTERM, the same one delivered twice, the second one of a person, and those during
// the start.
import { setTimeout as sleep } from 'node:timers/promises'

const names = ['SIGINT', 'SIGTERM'] as const

// A service manager and a process group signal the launcher and this process, and the launcher forwards it.
const minIntervalMs = 1_000

/** Calls `onFirst` at the first signal and `onSecond` at one at least a second later, until the returned function is called. */
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

const maxStopMs = 12_000

/**
 * Until `release`, the first signal stops what is being opened and then ends the process as usual, because the bundled
 * database would outlive it; the second one ends it at once.
 */
export function closeOnTermination(opening: Promise<{ close(): Promise<unknown> }>) {
  let ended: Promise<unknown> | null = null
  const endBy = (name: NodeJS.Signals) => {
    release()
    process.kill(process.pid, name)
    return new Promise(() => {})
  }
  const release = onTermination(name => {
    const closed = opening.then(opened => opened.close()).catch(() => {})
    ended = Promise.race([closed, sleep(maxStopMs)]).then(() => endBy(name))
  }, endBy)
  return {
    release,
    /** Does not resolve after a signal. */
    unlessEnding: async () => void (await ended),
  }
}
