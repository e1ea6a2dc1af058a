// Runs work that would block the event loop too long in a dedicated thread, with limited time and memory.
import { Worker } from 'node:worker_threads'

export type ThreadLimits = { maxMs: number; maxMb: number; signal?: AbortSignal | undefined }

/** The thread exceeded its time limit. */
export class ThreadTimeout extends Error {}

/**
 * Resolves to the message that a module posts for its `workerData`. Throws ThreadTimeout, the reason of
 * `signal`, or the error that ended the thread, such as running out of memory.
 */
export async function runInOwnThread<O>(
  file: string,
  input: unknown,
  { maxMs, maxMb, signal }: ThreadLimits,
): Promise<O> {
  const worker = new Worker(file, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: maxMb },
    env: {},
  })
  const { promise, resolve, reject } = Promise.withResolvers<O>()
  const stop = () => reject(signal!.reason)
  const timer = setTimeout(() => reject(new ThreadTimeout(`no result in ${maxMs} ms`)), maxMs)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('the thread ended without a result')))
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
