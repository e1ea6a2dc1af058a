// Termination signals: SIGINT and SIGTERM, the same one delivered twice, the second one of a person, and those during
// the start.
import { setTimeout as sleep } from 'node:timers/promises'

const names = ['SIGINT', 'SIGTERM'] as const

// A service manager and a process group signal the launcher and this process, and the launcher forwards it.
const minIntervalMs = 1_000

/** Calls `onFirst` at the first signal and `onSecond` at one at least a second later. */
export function onTermination(onFirst: (signal: NodeJS.Signals) => void, onSecond: () => void) {
  let firstAt: number | null = null
  for (const name of names)
    process.on(name, () => {
      const now = performance.now()
      if (firstAt === null) {
        firstAt = now
        onFirst(name)
      } else if (now - firstAt >= minIntervalMs) onSecond()
    })
}

const maxStopMs = 12_000

/**
 * Until `release`, the first signal stops what is being opened and then ends the process as usual, because the bundled
 * database would outlive it; the second one ends it at once.
 */
export function closeOnTermination(opening: Promise<{ close(): Promise<unknown> }>) {
  let ended: Promise<void> | null = null
  const release = () => {
    for (const name of names) process.off(name, end)
  }
  function end(name: NodeJS.Signals) {
    release()
    const closed = opening.then(opened => opened.close()).catch(() => {})
    ended = Promise.race([closed, sleep(maxStopMs)]).then(() => {
      process.kill(process.pid, name)
      return new Promise(() => {})
    })
  }
  for (const name of names) process.on(name, end)
  return {
    release,
    /** Does not resolve after a signal. */
    unlessEnding: async () => await ended,
  }
}
