// Interleaves items in one thread: while some wait for their disk, others compute, in order.
import type { DiskQueue } from './disk-queue.ts'

/** The disk as an item uses it. */
export type DiskAccess = {
  /** Whether waiting for the disk is worth an asynchronous call. */
  isSlow: boolean
  /** Counts a synchronous call. */
  record(ms: number): void
  /** One asynchronous call; the disk queue limits how many are in flight. */
  call<T>(call: () => Promise<T>): Promise<T>
  /**
   * Lets other items compute until the calls in `work` have ended. Waits until `bytes` of memory are free for
   * their results, which belong to the item until it calls `free`.
   */
  wait<T>(work: () => Promise<T>, bytes?: number): Promise<T>
  free(bytes: number): void
  /** Reserves memory if that much is free and no item is waiting for it. */
  tryHold(bytes: number): boolean
}

type InterleaveOptions = {
  queue: DiskQueue
  /** How many items compute at the same time: more than one if computing includes work in other threads. */
  slots: number
  /** Bytes of memory that the items may hold together; the first unfinished one may exceed it. */
  maxBytes: number
  /** Called with the index of the item that is computing, or else of the one that has waited longest. */
  onProgress: (index: number) => void
  /** Whether another item may be started. */
  hasTime: () => boolean
}

/**
 * Resolves to the results of the first items; to all results unless time ran out. Throws the first error of
 * `task`.
 */
export function interleave<I, O>(
  items: readonly I[],
  { queue, slots, maxBytes, onProgress, hasTime }: InterleaveOptions,
  task: (item: I, disk: DiskAccess) => Promise<O>,
): Promise<O[]> {
  const { promise, resolve, reject } = Promise.withResolvers<O[]>()
  const results: O[] = []
  // Started items that have not finished; those of them that are computing; those that are ready to.
  const started = new Set<number>()
  const computing = new Set<number>()
  const ready = new Map<number, () => void>()
  let waitingForMemory: (() => void)[] = []
  let heldBytes = 0
  let next = 0
  let failure: { error: unknown } | null = null

  function report() {
    if (failure === null && started.size > 0)
      onProgress(Math.min(...(computing.size > 0 ? computing : started)))
  }
  async function compute(index: number) {
    if (computing.size < slots) computing.add(index)
    else await new Promise<void>(admit => ready.set(index, admit))
    report()
  }
  function pause(index: number) {
    if (!computing.delete(index) || ready.size === 0) return
    const first = Math.min(...ready.keys())
    const admit = ready.get(first)!
    ready.delete(first)
    computing.add(first)
    admit()
  }
  function retryMemory() {
    const retries = waitingForMemory
    waitingForMemory = []
    for (const retry of retries) retry()
  }
  const isFirst = (index: number) => index === Math.min(...started)

  const accessOf = (index: number): DiskAccess => ({
    isSlow: queue.isSlow(),
    record: queue.record,
    call: queue.run,
    async wait(work, bytes = 0) {
      pause(index)
      while (heldBytes > 0 && heldBytes + bytes > maxBytes && !isFirst(index))
        await new Promise<void>(retry => waitingForMemory.push(retry))
      heldBytes += bytes
      try {
        return await work()
      } finally {
        await compute(index)
      }
    },
    free(bytes) {
      heldBytes -= bytes
      retryMemory()
    },
    tryHold(bytes) {
      if (waitingForMemory.length > 0 || heldBytes + bytes > maxBytes) return false
      heldBytes += bytes
      return true
    },
  })

  async function run(index: number) {
    const disk = accessOf(index)
    started.add(index)
    try {
      // Starts waiting at once: opening the file needs no CPU time.
      if (!disk.isSlow) await compute(index)
      results[index] = await task(items[index]!, disk)
    } catch (error) {
      onProgress(index)
      failure ??= { error }
    }
    started.delete(index)
    pause(index)
    retryMemory()
    startMore()
  }
  function startMore() {
    const hasRoom = () => started.size < (queue.isSlow() ? Math.max(slots, queue.depth()) : slots)
    while (failure === null && next < items.length && hasRoom() && (next === 0 || hasTime()))
      void run(next++)
    if (started.size > 0) return
    if (failure) reject(failure.error)
    else resolve(results)
  }
  startMore()
  return promise
}
