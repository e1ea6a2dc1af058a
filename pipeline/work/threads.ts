// Batches of books on the pool of threads: whatever kills its thread is left out, the rest goes on.
import {
  openThreads as openPool,
  type ThreadOptions,
  type Threads,
} from '../../lib/async/thread-pool.ts'
import type { ReadError } from '../index/reading.ts'

export type Task = 'read' | 'cover' | 'hash'

/** The threads of the pipeline; each task runs for about a tenth of a second before it hands back. */
export function openThreads(options: Omit<ThreadOptions, 'file' | 'idleMs'>): Threads {
  return openPool({
    ...options,
    file: new URL('../index/worker.ts', import.meta.url),
    idleMs: 10_000,
  })
}

export type Handle<I, O> = {
  failed: (item: I, failure: ReadError) => O
  slice: (done: O[], items: I[]) => Promise<void>
  stop: () => boolean
  /** Someone waits for it: it goes before all that does not say so. */
  urgent?: boolean
  /** Aborted when `stop` begins to say so: threads hand back, or are killed. */
  signal?: AbortSignal
}

/** Runs every item, slice by slice; `slice` may store what is there. One that kills its thread gets `failed`. */
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
    const order = { items: tried, rules }
    const { done, failure, blame } = await threads.run<I, R, O>(task, order, handle)
    if (failure && tried.length > 1) {
      // The ones before it were good and are lost with the thread: again, without it. Where two were
      // under way at once, the first of them goes alone to show which it was.
      most = Math.max(1, blame)
      continue
    }
    // Called off before a thread was free, or within a file.
    if (!failure && done.length === 0) continue
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
