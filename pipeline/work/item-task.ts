// Pool thread tasks over the items of a batch: one after another, as many as time permits.
import { workerData } from 'piscina'
import { createDiskQueue, type DiskQueue } from '../../lib/base/async/disk-queue.ts'
import { type DiskAccess, interleave } from '../../lib/base/async/interleave.ts'
import { enterRun } from '../../lib/base/async/memory-budget.ts'
import type { ThreadRequest } from '../../lib/base/async/thread-pool.ts'
import {
  isForMemory,
  isNewThread,
  startItem,
  threadTask,
  WornThread,
} from '../../lib/base/async/thread-task.ts'
import type { Containment } from '../../lib/base/containment.ts'

/** What the pool passes to each of its threads; `threads` is how many there are. */
export type ReadThreadData = { ioDepth: number; threads: number }

const { ioDepth, threads } = workerData as ReadThreadData

// A call returns after this time, so that results become visible while the rest is read. On a busy machine,
// shorter times lead to small batches, each with some forty statements: with 250 ms a scan took 7 % more CPU
// time.
const maxCallMs = 1_000
// For all threads together.
const maxPreloadedBytes = 32 * 1024 * 1024
// A disk that was slow is measured again after this time.
const remeasureMs = 60_000

type Tools = { disk: DiskAccess; tick: () => void }
type Result = { error: { code: string; message: string } | null }
type Doubt<I> = (result: Result, item: I) => boolean
type Task<I, R, O> = (item: I, options: R, tools: Tools) => Promise<O>

async function timed<O extends object>(run: () => Promise<O>): Promise<O & { ms: number }> {
  const startedAt = performance.now()
  const result = await run()
  return Object.assign(result, { ms: performance.now() - startedAt })
}

let disk: { root: string; queue: DiskQueue; measuredAt: number } | null = null

/** The queue of the library that the thread works for; the walk of the same library has its own. */
function diskOf(root: string): DiskQueue {
  const now = performance.now()
  if (disk?.root !== root || now - disk.measuredAt > remeasureMs) {
    // Without a setting, half of what the process may have in flight: the walk needs the rest.
    const share = ioDepth === 0 ? 2 * threads : threads
    const queue = createDiskQueue({ depth: ioDepth, share })
    disk = { root, queue, measuredAt: now }
  }
  return disk.queue
}

/** Runs a task over the first items, until time is up or the pool requests the thread to return. */
export function itemTask<I, R, O extends Result>(
  slots: number,
  containmentOf: (item: I, options: R) => Containment,
  { task, isDoubtful = isForMemory }: { task: Task<I, R, O>; isDoubtful?: Doubt<I> },
) {
  return threadTask(async ({ items, options, control }: ThreadRequest<I, R>): Promise<O[]> => {
    enterRun(control)
    // The first result that earlier files may have caused, and all after it, are not returned.
    let valid = items.length
    const end = performance.now() + maxCallMs
    const tick = () => {
      Atomics.add(control, 1, 1)
    }
    const run = async (item: I, disk: DiskAccess) => {
      startItem()
      const result = await timed(() => task(item, options, { disk, tick }))
      if (isDoubtful(result, item) && !isNewThread()) valid = Math.min(valid, items.indexOf(item))
      return result
    }
    const results = await interleave(
      items,
      {
        queue: diskOf(containmentOf(items[0]!, options).root),
        slots,
        maxBytes: maxPreloadedBytes / threads,
        onProgress(index) {
          Atomics.store(control, 0, index)
          tick()
        },
        hasTime: () =>
          valid === items.length && performance.now() < end && Atomics.load(control, 2) === 0,
      },
      run,
    )
    if (valid > 0) return results.slice(0, valid)
    Atomics.store(control, 0, 0)
    throw new WornThread()
  })
}
