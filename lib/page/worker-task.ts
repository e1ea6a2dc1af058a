// What the tasks of a page thread share: their frame, the opened file, errors as values, results in the page cache.
import { scoped, type Use } from '../base/async/dispose.ts'
import { enterRun } from '../base/async/memory-budget.ts'
import type { ThreadRequest } from '../base/async/thread-pool.ts'
import {
  isForMemory,
  isNewThread,
  startItem,
  threadTask,
  WornThread,
} from '../base/async/thread-task.ts'
import { isShortage, Unreadable } from '../base/errors.ts'
import { type File, openLibraryFile } from '../base/file.ts'
import { type CacheTarget, writeCacheFile } from './cache-write.ts'
import { decodeUnlessFailed } from './failures.ts'
import {
  type BookRef,
  type PageTasks,
  type RenderedImage,
  type TaskOptions,
  transferable,
  type WorkerResult,
} from './messages.ts'

export type Original = { bytes: Uint8Array; mediaType: string }

type Tools = {
  /** The heartbeat: long work that calls it does not count as stalled. */
  tick: () => void
  decode: <T>(bytes: Uint8Array, decode: () => Promise<T>) => Promise<T>
}

export function task<T extends keyof PageTasks>(
  work: (
    request: PageTasks[T]['request'],
    tools: Tools,
  ) => Promise<WorkerResult<PageTasks[T]['value']>>,
) {
  type Request = ThreadRequest<PageTasks[T]['request'], TaskOptions>
  return threadTask(async ({ items, options: { failureFolder }, control }: Request) => {
    enterRun(control)
    const tick = () => void Atomics.add(control, 1, 1)
    tick()
    const decode = <V>(bytes: Uint8Array, decode: () => Promise<V>) =>
      decodeUnlessFailed(bytes, failureFolder, decode)
    startItem()
    const result = await work(items[0]!, { tick, decode })
    if (!isNewThread() && 'error' in result && isForMemory(result)) throw new WornThread()
    return transferable([result])
  })
}

/**
 * Opens the file if it is still the requested version. `work` returns null for a page that does not exist.
 */
export async function withFile<T>(
  book: BookRef,
  work: (file: File, use: Use) => Promise<T | null>,
): Promise<WorkerResult<T>> {
  const path = Buffer.from(book.path, 'latin1')
  try {
    return await scoped(async use => {
      const file = use(await openLibraryFile(path, book.containment))
      const { size, modifiedMs } = file
      if (size !== book.size || modifiedMs !== book.modifiedMs)
        return { changed: { size, modifiedMs } }
      const value = await work(file, use)
      return value === null ? { isAbsent: true } : { value }
    })
  } catch (error) {
    return toError(error)
  }
}

export function toError(error: unknown): WorkerResult<never> {
  if (isShortage(error)) throw error
  const code = (error as NodeJS.ErrnoException).code
  if (error instanceof Unreadable) {
    const cause = (error.cause as NodeJS.ErrnoException | undefined)?.code
    return { error: { code: error.code, message: error.message }, isGone: isNotFound(cause) }
  }
  if (!(error instanceof Error) || !('syscall' in error)) throw error
  const message = `The file cannot be read (${code})`
  return { error: { code: 'io', message }, isGone: isNotFound(code) }
}

const isNotFound = (code: string | undefined) => code === 'ENOENT' || code === 'ENOTDIR'

export function store({ bytes, mediaType }: Original, target: CacheTarget | null): RenderedImage {
  const entry = target && writeCacheFile(target, bytes)
  return entry ? { bytes: null, mediaType, written: [entry] } : { bytes, mediaType, written: [] }
}
