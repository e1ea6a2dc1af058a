// Tasks of pool threads that end their thread during a shortage, or when it is worn. The pool then gets the
// error with its code, which would be lost if the task threw it, and modules that failed to load go away with
// the thread, because some versions of Node.js do not try to load them again.
import { endsThread } from '../errors.ts'

/** The task as a thread's module exports it. */
export const threadTask =
  <A extends unknown[], R>(task: (...input: A) => Promise<R>) =>
  async (...input: A): Promise<R> => {
    try {
      return await task(...input)
    } catch (error) {
      if (!endsThread(error) && !isWorn(error)) throw error
      // Nothing catches it here, so it ends the thread.
      setImmediate(() => {
        throw error
      })
      return await new Promise<never>(() => {})
    }
  }

// Worn threads: what a thread has read before can make a good file fail, mostly by lack of memory. Such a failure ends the
// thread, and only counts if it happens again in a new one.

/** Ends the thread; its pool runs the item again in another. */
export class WornThread extends Error {
  readonly code = 'ERR_THREAD_WORN'
}

/** Whether an error comes from a thread that ended as worn. */
export const isWorn = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_THREAD_WORN'

let items = 0

/** Counts an item that this thread starts. */
export function startItem() {
  items += 1
}

/** Whether the current item is the first one of this thread. */
export const isNewThread = (): boolean => items <= 1

/** Whether a result may have been caused by earlier files. */
export const isForMemory = ({
  error,
}: {
  error?: { code: string; message: string } | null
}): boolean => error?.code === 'memory'
