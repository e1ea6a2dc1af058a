// Semaphore with two priority levels and cancellation.
import { Unavailable } from '../errors.ts'

export type SemaphoreOptions = {
  /** How many may hold the semaphore at the same time. */
  slots: number
  /** Called when an urgent caller has to wait. */
  onUrgentWait?: () => void
}

export type AcquireOptions = {
  /** Served before all waiting normal callers. */
  urgent?: boolean | undefined
  /** Stops waiting when it aborts. */
  signal?: AbortSignal | undefined
}

type Waiter = { admit: () => void }

export function createSemaphore(options: SemaphoreOptions) {
  const { slots, onUrgentWait } = options
  const urgentQueue: Waiter[] = []
  const normalQueue: Waiter[] = []
  let holders = 0

  const waiting = () => urgentQueue.length + normalQueue.length
  function admitNext() {
    while (holders < slots) {
      const next = urgentQueue.shift() ?? normalQueue.shift()
      if (next === undefined) return
      holders += 1
      next.admit()
    }
  }

  function enqueue(queue: Waiter[], signal: AbortSignal | undefined) {
    return new Promise<void>((resolve, reject) => {
      const cancel = () => {
        const index = queue.indexOf(waiter)
        if (index >= 0) queue.splice(index, 1)
        reject(new Unavailable('Request was canceled'))
        admitNext()
      }
      const admit = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const waiter: Waiter = { admit }
      queue.push(waiter)
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  /** Each acquire must be followed by one `release`. Throws Unavailable when `signal` aborts first. */
  async function acquire({ urgent = false, signal }: AcquireOptions = {}) {
    if (signal?.aborted) throw new Unavailable('Request was canceled')
    if (waiting() === 0 && holders < slots) {
      holders += 1
      return
    }
    const admitted = enqueue(urgent ? urgentQueue : normalQueue, signal)
    if (urgent) onUrgentWait?.()
    await admitted
  }

  function release() {
    holders -= 1
    admitNext()
  }

  return {
    /** How many callers wait. */
    get waiting() {
      return waiting()
    },
    /** Whether `acquire` would return at once. */
    isFree: (): boolean => waiting() === 0 && holders < slots,
    acquire,
    release,
    /** Acquires, runs `work` and releases. An abort after the start does not stop `work`. */
    async run<T>(work: () => Promise<T>, options: AcquireOptions = {}): Promise<T> {
      await acquire(options)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
