// Bounded work queue: limits what runs at the same time, by number and by weight, and how much may wait.
import { Unavailable } from '../errors.ts'
import { createSemaphore } from './semaphore.ts'

type Bounds = {
  /** How many may run at the same time. */
  slots: number
  /** Upper bound of their total weight; a heavier one runs alone. */
  maxWeight: number
  /** How many may wait. */
  maxWaiting: number
}

export function createWorkQueue({ slots, maxWeight, maxWaiting }: Bounds) {
  const semaphore = createSemaphore({ slots, maxWeight })
  return {
    /**
     * Runs `work` when there is room for its weight. Throws Unavailable when the queue is full, and
     * when `signal` aborts before `work` has started; started work is not stopped.
     */
    async run<T>(weight: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      if (!semaphore.isFree(weight) && semaphore.waiting >= maxWaiting && !signal?.aborted)
        throw new Unavailable('Too many requests are waiting; try again later')
      return semaphore.run(work, { weight, signal })
    },
    get waiting() {
      return semaphore.waiting
    },
  }
}
