// The pool of threads where book bytes are parsed. A thread that stalls or runs out of memory is
// killed and replaced; the file it was on is named, and everything else goes on.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { ReadError } from './reading.ts'

// A small nursery: with V8's own choice two threads hold 100 MB more and are not faster.
const youngMb = 16

export type Task = 'read' | 'cover' | 'hash'

/** Shared with a thread: [index of the file at hand, ticks so far]. A tick is a sign of life. */
export type Pulse = Int32Array

export type Order<I, R> = { items: I[]; rules: R; pulse: Pulse }

/** Results of the first items; a thread hands back after its slice of time, so `done` may be a prefix. */
export type Slice<O> = { done: O[]; failure: ReadError | null }

export type Threads = ReturnType<typeof openThreads>

type Options = {
  threads: number
  timeoutMs: number
  memoryMb: number
  /** Told of errors that are ours and not the file's. */
  onBug: (error: unknown) => void
}

export function openThreads(options: Options) {
  const size = options.threads || availableParallelism()
  // Made when there is something to read: a thread loads every format, and a rescan needs none.
  let pool: Piscina | null = null
  const make = () =>
    new Piscina({
      filename: new URL('./worker.ts', import.meta.url).href,
      minThreads: 1,
      maxThreads: size,
      idleTimeout: 10_000,
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
     * Runs a task over the first items for about a tenth of a second. On a failure `done` is empty and
     * the item to blame is `items[0]`, or the caller is told to try fewer (`failure` null, nothing done).
     */
    async run<I, R, O>(task: Task, items: I[], rules: R): Promise<Slice<O> & { blame: number }> {
      const pulse: Pulse = new Int32Array(new SharedArrayBuffer(8))
      const stall = new AbortController()
      const watch = watchPulse(pulse, options.timeoutMs, () => stall.abort())
      try {
        pool ??= make()
        const done: O[] = await pool.run({ items, rules, pulse } satisfies Order<I, R>, {
          name: task,
          signal: stall.signal,
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

function failureOf(error: unknown, stalled: boolean, options: Options): ReadError {
  if (stalled)
    return { code: 'timeout', message: `Reading took longer than ${options.timeoutMs / 1000} s` }
  if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { code: 'memory', message: `Reading needed more than ${options.memoryMb} MB` }
  }
  // The thread died or our code failed on this file: the file is named, the others go on.
  options.onBug(error)
  return { code: 'internal', message: 'Reading failed; the log says why' }
}

export type Handle<I, O> = {
  failed: (item: I, failure: ReadError) => O
  slice: (done: O[], items: I[]) => Promise<void>
  stop: () => boolean
}

/** Runs every item, slice by slice; `onSlice` may store what is there. One that kills its thread gets `onFailure`. */
export async function runAll<I, R, O>(
  threads: Threads,
  task: Task,
  items: I[],
  rules: R,
  handle: Handle<I, O>,
) {
  let rest = items
  let most = items.length
  while (rest.length > 0 && !handle.stop()) {
    const tried = rest.slice(0, most)
    const { done, failure, blame } = await threads.run<I, R, O>(task, tried, rules)
    if (failure && tried.length > 1) {
      // The ones before it were good and are lost with the thread: again, without it. Where two were
      // under way at once, the first of them goes alone to show which it was.
      most = Math.max(1, blame)
      continue
    }
    const results = failure ? [handle.failed(tried[0]!, failure)] : done
    await handle.slice(results, rest.slice(0, results.length))
    rest = rest.slice(results.length)
    most = rest.length
  }
  return rest
}

/** `runAll` over all threads at once: the items are dealt out, so that no thread is left with the rest alone. */
export async function runSpread<I, R, O>(
  threads: Threads,
  task: Task,
  items: I[],
  rules: R,
  handle: Handle<I, O>,
) {
  const hands = Array.from({ length: threads.size }, (_, hand) =>
    items.filter((_item, i) => i % threads.size === hand),
  )
  await Promise.all(hands.map(hand => runAll<I, R, O>(threads, task, hand, rules, handle)))
}
