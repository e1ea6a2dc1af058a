// Batches of books on the thread pool. An item that terminates its thread fails alone; the others continue.
import type { ThreadFailure, ThreadPool } from '../../lib/base/async/thread-pool.ts'
import { mountHealth } from '../../lib/store/mount/mount-health.ts'

/** Tasks of pipeline/index/worker.ts; each returns after about a second with what is done. */
export type ThreadTask = 'read' | 'cover' | 'hash'

export type BatchOptions<I, O> = {
  /** Folder of the items' library, latin1. */
  root: string
  /** The result of an item that terminated its thread. */
  failed: (item: I, failure: ThreadFailure) => O | Promise<O>
  /** Called with the results of the next items, in order; may store them. */
  onResults: (results: O[], items: I[]) => Promise<void>
  isStopped: () => boolean
  /** Runs before all non-urgent batches. */
  urgent?: boolean
  /** Aborts when `isStopped` becomes true: threads return early, or are terminated. */
  signal?: AbortSignal
}

// A single file must not hold up its batch for its whole time limit.
const patienceOfBatch = 1 / 6
const minPatienceMs = 2_000

/**
 * Runs a task over all items. An item that terminates its thread, or takes a sixth of the time limit, runs
 * again alone after all others, and fails if it does so again. Returns the items that were not reached.
 * Throws NotResponding if the disk hangs.
 */
export async function runBatch<I, R, O>(
  threads: ThreadPool,
  task: ThreadTask,
  { items, options }: { items: I[]; options: R },
  handle: BatchOptions<I, O>,
): Promise<I[]> {
  let rest = items
  let suspects: I[] = []
  const patienceMs = Math.min(
    threads.timeoutMs,
    Math.max(minPatienceMs, threads.timeoutMs * patienceOfBatch),
  )
  while (rest.length + suspects.length > 0 && !handle.isStopped()) {
    const batch = rest.length > 0 ? rest : suspects.slice(0, 1)
    const isAlone = batch.length === 1
    const timeoutMs = isAlone ? threads.timeoutMs : patienceMs
    const { done, failure, failedIndex } = await mountHealth.runThread(handle.root, hung => {
      const signal = handle.signal ? AbortSignal.any([hung, handle.signal]) : hung
      const request = { items: batch, options }
      const urgent = handle.urgent ?? false
      return threads.run<I, R, O>(task, request, { urgent, signal, timeoutMs })
    })
    if (failure && !isAlone) {
      // The results before it are lost with the thread. If two items ran at once, the other may be the
      // culprit: the next call finds out.
      const index = Math.max(0, failedIndex)
      suspects.push(batch[index]!)
      rest = batch.filter((_item, i) => i !== index)
      continue
    }
    // Stopped before a thread was free, or within a file.
    if (!failure && done.length === 0) continue
    const results = failure ? [await handle.failed(batch[0]!, failure)] : done
    await handle.onResults(results, batch.slice(0, results.length))
    if (rest.length > 0) rest = rest.slice(results.length)
    else suspects = suspects.slice(results.length)
  }
  return [...rest, ...suspects]
}

/**
 * `runBatch` over all threads at once; items are distributed so that no thread is left with the rest alone.
 */
export async function runParallel<I, R, O>(
  threads: ThreadPool,
  task: ThreadTask,
  { items, options }: { items: I[]; options: R },
  handle: BatchOptions<I, O>,
): Promise<void> {
  const parts = Array.from({ length: threads.size }, (_, part) =>
    items.filter((_item, i) => i % threads.size === part),
  )
  await Promise.all(
    parts.map(part => runBatch<I, R, O>(threads, task, { items: part, options }, handle)),
  )
}
