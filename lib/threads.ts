// A pool of threads for bytes that are not ours. A thread that stalls or runs out of memory is killed
// and replaced; what it was on is named, and everything else goes on.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { UnreadableCode } from './errors.ts'

// A small nursery: with V8's own choice two threads hold 100 MB more and are not faster.
const youngMb = 16

/** Shared with a thread: [index of the item at hand, ticks so far]. A tick is a sign of life. */
export type Pulse = Int32Array

export type Order<I, R> = { items: I[]; rules: R; pulse: Pulse }

export type ThreadFailure = { code: UnreadableCode; message: string }

/** Results of the first items; a thread may hand back after a slice of time, so `done` may be a prefix. */
export type Slice<O> = { done: O[]; failure: ThreadFailure | null; blame: number }

export type Threads = ReturnType<typeof openThreads>

export type ThreadOptions = {
  /** The module whose exports are the tasks: `(order: Order<I, R>) => Promise<O[]>`. */
  file: URL
  /** 0 means one per core. */
  threads: number
  timeoutMs: number
  memoryMb: number
  /** How long a thread without work stays. */
  idleMs: number
  /** How many stay although there is no work; one unless said otherwise. */
  keep?: number
  /** Told of errors that are ours and not the file's. */
  onBug: (error: unknown) => void
}

export function openThreads(options: ThreadOptions) {
  const size = options.threads || availableParallelism()
  // Made when there is something to do: a thread loads every format.
  let pool: Piscina | null = null
  const make = () =>
    new Piscina({
      filename: options.file.href,
      minThreads: options.keep ?? 1,
      maxThreads: size,
      idleTimeout: options.idleMs,
      // With 'sync' an idle thread freezes in Atomics.wait while sharp works in it.
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: options.memoryMb,
        maxYoungGenerationSizeMb: youngMb,
      },
    })
  return {
    size,
    /**
     * Runs a task over the first items. On a failure `done` is empty and `blame` is the index of the
     * item that the thread was on. `transfer` is handed over, not copied.
     */
    async run<I, R, O>(
      task: string,
      { items, rules }: { items: I[]; rules: R },
      transfer: ArrayBuffer[] = [],
    ): Promise<Slice<O>> {
      const pulse: Pulse = new Int32Array(new SharedArrayBuffer(8))
      const stall = new AbortController()
      const watch = watchPulse(pulse, options.timeoutMs, () => stall.abort())
      try {
        pool ??= make()
        const done: O[] = await pool.run({ items, rules, pulse } satisfies Order<I, R>, {
          name: task,
          signal: stall.signal,
          transferList: transfer as never,
        })
        return { done, failure: null, blame: -1 }
      } catch (error) {
        const failure = failureOf(error, stall.signal.aborted, options)
        return { done: [], failure, blame: Atomics.load(pulse, 0) }
      } finally {
        clearInterval(watch)
      }
    },
    close: async () => pool?.destroy(),
  }
}

function watchPulse(pulse: Pulse, timeoutMs: number, stalled: () => void) {
  let ticks = 0
  let since = Date.now()
  return setInterval(() => {
    const now = Atomics.load(pulse, 1)
    // Zero ticks: the task still waits for a thread.
    if (now !== ticks || now === 0) {
      ticks = now
      since = Date.now()
    } else if (Date.now() - since > timeoutMs) stalled()
  }, 250)
}

function failureOf(error: unknown, stalled: boolean, options: ThreadOptions): ThreadFailure {
  if (stalled)
    return { code: 'timeout', message: `Reading took longer than ${options.timeoutMs / 1000} s` }
  if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { code: 'memory', message: `Reading needed more than ${options.memoryMb} MB` }
  }
  // The thread died or our code failed on this item: it is named, the others go on.
  options.onBug(error)
  return { code: 'internal', message: 'Reading failed; the log says why' }
}
