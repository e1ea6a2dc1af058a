// Pool of page threads behind a bounded work queue.
import { availableParallelism } from 'node:os'
import { openThreadPool, type ThreadOptions } from '../base/async/thread-pool.ts'
import { createWorkQueue } from '../base/async/work-queue.ts'
import { fileMissing, missingFile } from '../base/containment.ts'
import { NotFound, Unreadable } from '../base/errors.ts'
import { programFile } from '../base/package.ts'
import { deliveryCounters } from '../download/counters.ts'
import { mountHealth } from '../store/mount/mount-health.ts'
import type { Failures } from './failures.ts'
import type { FileChanged, PageTasks, TaskOptions, WorkerResult } from './messages.ts'

export type PagePool = ReturnType<typeof openPagePool>

const maxWaiting = 512
/** Bytes of decoded images in progress. */
const maxWeight = 128 * 1024 * 1024
/** Weight of a page of unknown size. */
export const unknownWeight = 64 * 1024 * 1024

/** Who waits for an image: an account gets at most half of the threads. */
export type Client = { accountId?: string; signal?: AbortSignal | undefined }

type RunOptions = {
  weight: number
  client?: Client
  /** Identifies what is decoded; if it has failed before, the same error is thrown immediately. */
  failureKey?: string
  /** Starts after the account's other work. */
  isDeferrable?: boolean
}

type PoolOptions = Omit<ThreadOptions, 'file' | 'idleMs'> & { failures: Failures }

// A client is waiting, and an occupied thread serves no one else.
const maxTaskMs = 20_000

/**
 * Each thread works on one page at a time. `maxWeight` limits their total estimated memory; a heavier page
 * runs alone.
 */
export function openPagePool({ failures, ...options }: PoolOptions) {
  const file = programFile('lib/page/worker')
  const threads = openThreadPool({
    ...options,
    file,
    idleMs: 30_000,
    // With at least two, one account never gets all of them.
    maxThreads: Math.max(2, options.maxThreads || availableParallelism()),
    timeoutMs: Math.min(options.timeoutMs, maxTaskMs),
  })
  const queue = createWorkQueue({ slots: threads.size, maxWeight, maxWaiting })
  return {
    /**
     * Throws NotFound for a file or page that does not exist, Unreadable, and Unavailable (503) if too many
     * requests are waiting, the library's disk does not respond, or `signal` aborts.
     */
    async run<T extends keyof PageTasks>(
      task: T,
      request: PageTasks[T]['request'],
      { weight, client = {}, failureKey, isDeferrable = false }: RunOptions,
    ): Promise<PageTasks[T]['value'] | FileChanged> {
      type Result = WorkerResult<PageTasks[T]['value']>
      if (failureKey) await failures.check(failureKey)
      const work = async (hung?: AbortSignal): Promise<Result> => {
        deliveryCounters.tasks += 1
        const batch = { items: [request], options: { failureFolder: failures.folder } }
        const run = threads.run<unknown, TaskOptions, Result>(task, batch, { signal: hung })
        const { done, failure } = await run
        // No result means that its disk hangs and the caller has stopped waiting.
        return failure ? { error: failure, isGone: false } : (done[0] ?? { isAbsent: true })
      }
      const root = rootOf(request)
      const { accountId, signal } = client
      const owned = accountId === undefined ? {} : { owner: accountId }
      const result = await queue.run({ weight, ...owned, isDeferrable, signal }, () =>
        root === null ? work() : mountHealth.runThread(root, work),
      )
      if ('value' in result) return result.value
      if ('changed' in result) return result
      if ('isAbsent' in result) throw new NotFound('The book has no such page')
      const { code, message } = result.error
      if (result.isGone)
        throw root === null
          ? new NotFound('The file of the book does not exist')
          : await mountHealth.run(root, () => missingFile(root, fileMissing()))
      const error = new Unreadable(message, code)
      if (failureKey) void failures.remember(failureKey, error)
      throw error
    },
    close: threads.close,
  }
}

/** Folder of the library that a task reads; null for a task that is passed its bytes. */
function rootOf(request: PageTasks[keyof PageTasks]['request']): string | null {
  if ('containment' in request) return request.containment.root
  return 'book' in request ? request.book.containment.root : null
}
