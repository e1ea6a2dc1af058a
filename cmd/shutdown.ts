// Process shutdown: on request, after a signal during startup, or after a failure, each with a deadline. A
// thread blocked on an unresponsive disk must not prevent exiting: process.exit() would wait for it
// indefinitely.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/base/log.ts'
import { hasBlockedThreads } from '../lib/store/mount/mount-health.ts'
import { exitNow, report, signalCode, Terminated } from './exit.ts'

export type Shutdown = ReturnType<typeof createShutdown>

// Service managers and container runtimes usually send SIGKILL after 30 seconds.
const maxShutdownMs = 29_500
// Includes stopping the bundled database.
const maxInterruptedStartMs = 12_000
const maxFailureMs = 4_000
// A service manager and a process group signal both the launcher and this process, and the launcher forwards
// it: only a signal that comes later is a person's second one.
const minSignalIntervalMs = 1_000

/** Handles SIGINT and SIGTERM from now on: the first requests shutdown, a later one exits immediately. */
export function createShutdown() {
  const unclosedParts: string[] = []
  const controller = new AbortController()
  const { signal } = controller
  const { promise: requested, resolve } = Promise.withResolvers<void>()
  const request = (name: NodeJS.Signals = 'SIGTERM') => {
    controller.abort(new Terminated(name))
    resolve()
  }
  let firstAt: number | null = null
  const receive = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt === null) {
      firstAt = now
      request(name)
    } else if (now - firstAt >= minSignalIntervalMs) exitNow(signalCode(name))
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, receive)
  const deadline = (ms: number) =>
    void setTimeout(() => exitNow(Number(process.exitCode ?? 0)), ms).unref()
  return {
    /** Resolves at the first signal or request. */
    requested,
    /** Aborts with Terminated at the same time. */
    signal,
    isRequested: () => signal.aborted,
    /** Never counts as a second signal: the end of the parent and a signal may have the same cause. */
    request: () => request(),
    /**
     * The result of `work`, which is unaware of shutdown. If shutdown is requested first, throws Terminated,
     * and later passes what `work` opened to `close`.
     */
    async unlessRequested<T>(work: Promise<T>, close?: (opened: T) => unknown) {
      const done = await Promise.race([work.then(value => ({ value })), requested])
      if (done) return done.value
      if (close)
        await Promise.race([work.then(close).catch(() => {}), sleep(maxInterruptedStartMs)])
      throw signal.reason
    },
    /**
     * Waits for a part to close, for at most `ms`; a part that takes longer is abandoned. Failures are
     * logged.
     */
    async closeWithin(part: string, { ms, log }: { ms: number; log: Log }, close: () => unknown) {
      const timedOut = Symbol()
      const timer = new AbortController()
      const closed = (async () => close())()
      const result = await Promise.race([
        closed.catch(err => log.warn({ part, err }, 'a part failed to close')),
        sleep(ms, timedOut, { signal: timer.signal }).catch(() => {}),
      ]).finally(() => timer.abort())
      if (result !== timedOut) return
      unclosedParts.push(part)
      log.warn({ part }, 'shutdown timed out')
    },
    /** Limits everything from now on to half a minute in total. */
    startDeadline: () => deadline(maxShutdownMs),
    /** Reports the failure, sets its exit code, and allows some seconds for closing what is open. */
    fail(error: unknown) {
      report(error)
      deadline(error instanceof Terminated ? maxInterruptedStartMs : maxFailureMs)
    },
    /** The last step: exits even if some parts did not close. */
    exit() {
      const exit = () => exitNow(Number(process.exitCode ?? 0))
      if (unclosedParts.length > 0 || hasBlockedThreads()) exit()
      // Terminated threads that are stuck in a system call are no longer tracked anywhere.
      setTimeout(exit, 1_000).unref()
    },
  }
}
