// Bounded, fair work queue: limits how much work runs at once (by count, weight and owner) and how much
// waits.
import { Unavailable } from '../errors.ts'

type Bounds = {
  /** How many may run at the same time. */
  slots: number
  /**
   * Upper bound of their total weight. Work of more than half of it is heavy: heavy work runs one at a time.
   */
  maxWeight: number
  /** How many may wait. */
  maxWaiting: number
}

type Work = {
  weight: number
  /** Who requests the work. One owner gets at most half of the slots, the weight and the waiting places. */
  owner?: string
  /** Starts after other work, unless its owner has less running. */
  isDeferrable?: boolean
  signal?: AbortSignal | undefined
}

type Waiter = { owner: string; weight: number; isDeferrable: boolean; admit: () => void }
type Share = Pick<Waiter, 'owner' | 'weight'>

const half = (bound: number) => Math.max(1, Math.floor(bound / 2))

export function createWorkQueue({ slots, maxWeight, maxWaiting }: Bounds) {
  const waiters: Waiter[] = []
  const running = new Map<string, { count: number; weight: number }>()
  let count = 0
  let lightWeight = 0
  let hasHeavy = false

  const isHeavy = (weight: number) => weight > maxWeight / 2
  const runningOf = (owner: string) => running.get(owner) ?? { count: 0, weight: 0 }

  /** Whether the owner has a slot left and the weight fits beside the owner's other work. */
  function isEligible({ owner, weight }: Waiter): boolean {
    const own = runningOf(owner)
    if (own.count >= half(slots)) return false
    return isHeavy(weight) ? !hasHeavy : own.weight + weight <= maxWeight / 2
  }

  function change({ owner, weight }: Share, sign: 1 | -1) {
    count += sign
    if (isHeavy(weight)) hasHeavy = sign === 1
    else lightWeight += sign * weight
    const own = runningOf(owner)
    own.count += sign
    if (!isHeavy(weight)) own.weight += sign * weight
    if (own.count === 0) running.delete(owner)
    else running.set(owner, own)
  }

  function precedes(one: Waiter, other: Waiter): boolean {
    const difference = runningOf(one.owner).count - runningOf(other.owner).count
    return difference < 0 || (difference === 0 && !one.isDeferrable && other.isDeferrable)
  }

  /**
   * The eligible work whose owner has the least running; among these non-deferrable work first, then the
   * oldest. Null if it has to wait for its weight.
   */
  function next(): Waiter | null {
    let best: Waiter | null = null
    for (const waiter of waiters)
      if (isEligible(waiter) && (!best || precedes(waiter, best))) best = waiter
    // Lighter work does not overtake it: under load it would wait forever.
    const fits = best && (isHeavy(best.weight) || lightWeight + best.weight <= maxWeight)
    return fits ? best : null
  }

  function admitNext() {
    while (count < slots) {
      const waiter = next()
      if (waiter === null) return
      waiters.splice(waiters.indexOf(waiter), 1)
      change(waiter, 1)
      waiter.admit()
    }
  }

  function acquire({ owner = '', weight, isDeferrable = false, signal }: Work) {
    return new Promise<Waiter>((resolve, reject) => {
      const leave = (message: string) => {
        waiters.splice(waiters.indexOf(waiter), 1)
        signal?.removeEventListener('abort', cancel)
        reject(new Unavailable(message))
      }
      const cancel = () => {
        leave('Request was canceled')
        admitNext()
      }
      const admit = () => {
        signal?.removeEventListener('abort', cancel)
        resolve(waiter)
      }
      const waiter: Waiter = { owner, weight, isDeferrable, admit }
      signal?.addEventListener('abort', cancel, { once: true })
      waiters.push(waiter)
      admitNext()
      const own = waiters.filter(other => other.owner === owner)
      const isFull = waiters.length > maxWaiting || own.length > half(maxWaiting)
      if (isFull && waiters.includes(waiter))
        leave('Too many requests are waiting; try again later')
    })
  }

  return {
    /**
     * Runs `work` when there is room for it. Throws Unavailable when too much is waiting, or when `signal`
     * aborts before `work` has started; work that has started is not stopped.
     */
    async run<T>(request: Work, work: () => Promise<T>): Promise<T> {
      if (request.signal?.aborted) throw new Unavailable('Request was canceled')
      const held = await acquire(request)
      try {
        return await work()
      } finally {
        change(held, -1)
        admitNext()
      }
    },
    get waiting() {
      return waiters.length
    },
  }
}
