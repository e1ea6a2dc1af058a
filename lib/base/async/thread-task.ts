// Tasks of pool threads during a shortage, or in a worn thread: they end their thread. Its pool then gets the error with its code, which an error
// that a task throws loses, and modules that could not be loaded go with the thread, since some versions of Node.js do not
// load them again.
import { endsThread } from '../shortage.ts'
import { isWorn } from './worn-thread.ts'

/** The task as the module of a thread exports it. */
export const threadTask =
  <A extends unknown[], R>(task: (...input: A) => Promise<R>) =>
  async (...input: A): Promise<R> => {
    try {
      return await task(...input)
    } catch (error) {
      if (!endsThread(error) && !isWorn(error)) throw error
      // Nothing catches it here.
      setImmediate(() => {
        throw error
      })
      return await new Promise<never>(() => {})
    }
  }
