// How a process that stays comes to its end in time, even when a thread of it hangs on a disk that does
// not answer: exit() would wait for that thread for ever.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'

export type Ending = ReturnType<typeof openEnding>

// Who asked for the end usually kills after half a minute.
const mostMs = 29_500

/** From now on SIGINT and SIGTERM ask for the end; a second one ends the process at once. */
export function openEnding() {
  const hanging: string[] = []
  let isAsked = false
  let ask = () => {}
  const asked = new Promise<void>(resolve => {
    ask = () => {
      if (isAsked) endNow(130)
      isAsked = true
      resolve()
    }
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, ask)
  return {
    /** Resolves at the first signal. */
    asked,
    isAsked: () => isAsked,
    ask: () => ask(),
    /** Waits for a part to close, but no longer than this; whatever did not is left behind. */
    async inTime(part: string, { ms, log }: { ms: number; log: Log }, close: () => unknown) {
      const late = Symbol()
      const waiting = new AbortController()
      const first = await Promise.race([
        close(),
        sleep(ms, late, { signal: waiting.signal }).catch(() => {}),
      ]).finally(() => waiting.abort())
      if (first !== late) return
      hanging.push(part)
      log.warn({ part }, 'left behind: it does not end')
    },
    /** Nothing that is done from now on may take longer than half a minute in all. */
    hurry: () => void setTimeout(() => endNow(0), mostMs).unref(),
    /** The last thing to do: ends what hangs together with the process. */
    leave() {
      if (hanging.length > 0) endNow(0)
      // Threads that were killed and do not die are known to nobody any more.
      setTimeout(() => endNow(0), 1_000).unref()
    },
  }
}

/** Ends without waiting for threads: the process becomes one that has none, and nothing to do. */
function endNow(code: number): never {
  if (process.execve && process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, '--eval', `process.exit(${code})`])
  process.exit(code)
}
