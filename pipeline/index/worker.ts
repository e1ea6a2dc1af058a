// Entry point of a pool thread. No database, queue or configuration: values come in, values go out.
import type { ThreadRequest } from '../../lib/async/thread-pool.ts'
import { readBook } from './extract.ts'
import { hashFile } from './hash-file.ts'
import { makeThumbnail } from './thumbnail.ts'

// A call returns after this time, so that the first result of a slow file is not delayed by the rest. No
// client waits for a hash: there a long time saves round trips. A pair of covers at once overlaps the
// reading of one file with the image work of the other.
const limits = {
  read: { ms: 250, concurrency: 1 },
  cover: { ms: 250, concurrency: 2 },
  hash: { ms: 1_000, concurrency: 1 },
}

type Task<I, R, O> = (item: I, options: R, tick: () => void) => Promise<O> | O

async function timed<O extends object>(run: () => Promise<O> | O): Promise<O & { ms: number }> {
  const startedAt = performance.now()
  const result = await run()
  return Object.assign(result, { ms: performance.now() - startedAt })
}

/** Runs a task over the first items, until the time is up or the pool requests the thread to return. */
function timeLimited<I, R, O extends object>(
  { ms, concurrency }: { ms: number; concurrency: number },
  task: Task<I, R, O>,
) {
  return async ({ items, options, control }: ThreadRequest<I, R>): Promise<O[]> => {
    const end = performance.now() + ms
    const done: O[] = []
    const tick = () => {
      Atomics.add(control, 1, 1)
    }
    const hasTime = () => performance.now() < end && Atomics.load(control, 2) === 0
    for (let i = 0; i < items.length && (i === 0 || hasTime()); i += concurrency) {
      Atomics.store(control, 0, i)
      tick()
      const batch = items.slice(i, i + concurrency)
      done.push(...(await Promise.all(batch.map(item => timed(() => task(item, options, tick))))))
    }
    return done
  }
}

export const read = timeLimited(limits.read, readBook)
export const cover = timeLimited(limits.cover, makeThumbnail)
export const hash = timeLimited(limits.hash, hashFile)
