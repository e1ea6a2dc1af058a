// Tasks of pool threads that end their thread during a shortage, or when it is worn. The pool then gets the
// error with its code, which would be lost if the task threw it, and modules that failed to load go away with
// the thread, because some versions of Node.js do not try to load them again.
import { endsThread } from '../shortage.ts'
import { isWorn } from './worn-thread.ts'

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
