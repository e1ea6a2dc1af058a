// Graceful shutdown: signal handling and deadlines for closing parts of a process. A thread blocked on an
// unresponsive disk must not prevent the end: process.exit() would wait for it indefinitely.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import { hasBlockedThreads } from '../lib/mount/mount-health.ts'
import { onTermination } from './signals.ts'

export type Shutdown = ReturnType<typeof createShutdown>

// Service managers and container runtimes usually send SIGKILL after 30 seconds.
const maxShutdownMs = 29_500

/** Handles SIGINT and SIGTERM from now on: the first requests the shutdown, a later one exits at once. */
export function createShutdown() {
  const unclosedParts: string[] = []
  let isRequested = false
  let request = () => {}
  const requested = new Promise<void>(resolve => {
    request = () => {
      isRequested = true
      resolve()
    }
  })
  onTermination(request, () => exitNow(130))
  return {
    /** Resolves at the first signal or request. */
    requested,
    isRequested: () => isRequested,
    /** Never counts as a second signal: the end of the parent and a signal may have the same cause. */
    request: () => request(),
    /** Waits for a part to close, at most `ms`; a part that takes longer is abandoned. */
    async closeWithin(part: string, { ms, log }: { ms: number; log: Log }, close: () => unknown) {
      const timedOut = Symbol()
      const timer = new AbortController()
      const result = await Promise.race([
        close(),
        sleep(ms, timedOut, { signal: timer.signal }).catch(() => {}),
      ]).finally(() => timer.abort())
      if (result !== timedOut) return
      unclosedParts.push(part)
      log.warn({ part }, 'shutdown timed out')
    },
    /** Limits everything from now on to half a minute in total. */
    startDeadline: () => void setTimeout(() => exitNow(0), maxShutdownMs).unref(),
    /** The last step: exits together with the parts that did not close. */
    exit() {
      if (unclosedParts.length > 0 || hasBlockedThreads()) exitNow(0)
      // Terminated threads that are stuck in a system call are no longer tracked anywhere.
      setTimeout(() => exitNow(0), 1_000).unref()
    },
  }
}

/**
 * Exits without waiting for threads, by replacing the process with one that has none; where that is not possible,
 * by killing it if one of them may be blocked.
 */
export function exitNow(code: number): never {
  if (process.execve && process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, '--eval', `process.exit(${code})`])
  if (hasBlockedThreads()) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
