// Pool of page threads behind a bounded work queue.
import { openThreadPool, type ThreadOptions } from '../async/thread-pool.ts'
import { createWorkQueue } from '../async/work-queue.ts'
import { deliveryCounters } from '../download/counters.ts'
import { NotFound, Unreadable } from '../errors.ts'
import type { FileChanged, PageTasks, WorkerResult } from './messages.ts'

export type PagePool = ReturnType<typeof openPagePool>

const maxWaiting = 512
/** Bytes of decoded images in progress. */
const maxWeight = 128 * 1024 * 1024
/** Weight of a page of unknown size. */
export const unknownWeight = 64 * 1024 * 1024

/** Each thread works on one page at a time; their estimated memory is bounded by `maxWeight`, or one works alone. */
export function openPagePool(options: Omit<ThreadOptions, 'file' | 'idleMs' | 'minThreads'>) {
  const file = new URL('./worker.ts', import.meta.url)
  const threads = openThreadPool({ ...options, file, idleMs: 30_000, minThreads: 0 })
  const queue = createWorkQueue({ slots: threads.size, maxWeight, maxWaiting })
  return {
    /**
     * Throws NotFound for a file or a page that does not exist, Unreadable, and Unavailable (503) when
     * too many requests wait or `signal` aborts.
     */
    async run<T extends keyof PageTasks>(
      task: T,
      request: PageTasks[T]['request'],
      { weight, signal }: { weight: number; signal?: AbortSignal | undefined },
    ): Promise<PageTasks[T]['value'] | FileChanged> {
      type Result = WorkerResult<PageTasks[T]['value']>
      const work = async (): Promise<Result> => {
        deliveryCounters.tasks += 1
        const batch = { items: [request], options: null }
        const { done, failure } = await threads.run<unknown, null, Result>(task, batch)
        return failure ? { error: failure, isGone: false } : done[0]!
      }
      const result = await queue.run(weight, work, signal)
      if ('value' in result) return result.value
      if ('changed' in result) return result
      if ('isAbsent' in result) throw new NotFound('The book has no such page')
      const { code, message } = result.error
      if (result.isGone) throw new NotFound('The file of the book does not exist')
      throw new Unreadable(message, code)
    },
    close: threads.close,
  }
}
