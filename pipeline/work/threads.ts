// Batches of books on the thread pool. An item that terminates its thread fails alone; the others go on.
import type { ThreadFailure, ThreadPool } from '../../lib/async/thread-pool.ts'
import { mountHealth } from '../../lib/mount-health.ts'

/** Tasks of pipeline/index/worker.ts; each returns after about a tenth of a second with what is done. */
export type ThreadTask = 'read' | 'cover' | 'hash'

export type BatchOptions<I, O> = {
  /** Folder of the library that the items belong to, latin1. */
  root: string
  /** The result of an item that terminated its thread. */
  failed: (item: I, failure: ThreadFailure) => O | Promise<O>
  /** Called with the results of the next items, in order; may store them. */
  onResults: (results: O[], items: I[]) => Promise<void>
  isStopped: () => boolean
  /** Runs before all batches that are not urgent. */
  urgent?: boolean
  /** Aborted when `isStopped` becomes true: threads return early, or are terminated. */
  signal?: AbortSignal
}

/** Runs a task over all items; returns the items that were not reached. Throws NotResponding when the disk hangs. */
export async function runBatch<I, R, O>(
  threads: ThreadPool,
  task: ThreadTask,
  { items, options }: { items: I[]; options: R },
  handle: BatchOptions<I, O>,
): Promise<I[]> {
  let rest = items
  let limit = items.length
  let suspect: I | undefined
  while (rest.length > 0 && !handle.isStopped()) {
    const request = { items: rest.slice(0, limit), options }
    const { done, failure, failedIndex } = await mountHealth.runThread(handle.root, hung => {
      const signal = handle.signal ? AbortSignal.any([hung, handle.signal]) : hung
      return threads.run<I, R, O>(task, request, { urgent: handle.urgent ?? false, signal })
    })
    if (failure && request.items.length > 1) {
      // The results before the failed item are lost with the thread: repeat them without it. If two
      // items ran at once, the first runs alone to show which one failed.
      limit = Math.max(1, failedIndex)
      suspect = request.items[Math.max(0, failedIndex)]
      continue
    }
    // Stopped before a thread was free, or within a file.
    if (!failure && done.length === 0) continue
    const results = failure ? [await handle.failed(request.items[0]!, failure)] : done
    await handle.onResults(results, rest.slice(0, results.length))
    rest = rest.slice(results.length)
    // The one that failed runs alone, so that its time limit passes twice at most.
    const place = suspect === undefined ? -1 : rest.indexOf(suspect)
    limit = place === -1 ? rest.length : Math.max(1, place)
  }
  return rest
}

/** `runBatch` over all threads at once; items are dealt out, so that no thread is left with the rest alone. */
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
