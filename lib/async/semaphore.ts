// Weighted semaphore with two priority levels and cancellation.
import { Unavailable } from '../errors.ts'

export type SemaphoreOptions = {
  /** How many may hold the semaphore at the same time. */
  slots: number
  /** Upper bound of the sum of the weights held; a heavier one is admitted alone. */
  maxWeight?: number
  /** Called when an urgent caller has to wait. */
  onUrgentWait?: () => void
}

export type AcquireOptions = {
  /** 0 unless given. */
  weight?: number | undefined
  /** Served before all normal callers that wait. */
  urgent?: boolean | undefined
  /** Stops waiting when it aborts. */
  signal?: AbortSignal | undefined
}

type Waiter = { weight: number; admit: () => void }

export function createSemaphore(options: SemaphoreOptions) {
  const { slots, maxWeight = Number.POSITIVE_INFINITY, onUrgentWait } = options
  const urgentQueue: Waiter[] = []
  const normalQueue: Waiter[] = []
  let holders = 0
  let heldWeight = 0

  const waiting = () => urgentQueue.length + normalQueue.length
  const fits = (weight: number) =>
    holders < slots && (holders === 0 || heldWeight + weight <= maxWeight)

  function take(weight: number) {
    holders += 1
    heldWeight += weight
  }

  // Strictly in order: a light caller does not overtake a heavy one that waits for its weight.
  function admitNext() {
    for (;;) {
      const queue = urgentQueue.length > 0 ? urgentQueue : normalQueue
      if (queue.length === 0 || !fits(queue[0]!.weight)) return
      const next = queue.shift()!
      take(next.weight)
      next.admit()
    }
  }

  function enqueue(queue: Waiter[], weight: number, signal: AbortSignal | undefined) {
    return new Promise<void>((resolve, reject) => {
      const cancel = () => {
        const index = queue.indexOf(waiter)
        if (index >= 0) queue.splice(index, 1)
        reject(new Unavailable('Request was cancelled'))
        admitNext()
      }
      const admit = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const waiter: Waiter = { weight, admit }
      queue.push(waiter)
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  /** Every acquire is followed by one `release` of the same weight. Throws Unavailable when `signal` aborts first. */
  async function acquire({ weight = 0, urgent = false, signal }: AcquireOptions = {}) {
    if (signal?.aborted) throw new Unavailable('Request was cancelled')
    if (waiting() === 0 && fits(weight)) return take(weight)
    const admitted = enqueue(urgent ? urgentQueue : normalQueue, weight, signal)
    if (urgent) onUrgentWait?.()
    await admitted
  }

  function release(weight = 0) {
    holders -= 1
    heldWeight -= weight
    admitNext()
  }

  return {
    /** How many callers wait. */
    get waiting() {
      return waiting()
    },
    /** Whether `acquire` would return at once. */
    isFree: (weight = 0): boolean => waiting() === 0 && fits(weight),
    acquire,
    release,
    /** Acquires, runs `work` and releases. An abort after the start does not stop `work`. */
    async run<T>(work: () => Promise<T>, options: AcquireOptions = {}): Promise<T> {
      await acquire(options)
      try {
        return await work()
      } finally {
        release(options.weight)
      }
    },
  }
}
