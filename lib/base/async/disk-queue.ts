// Queue of calls on one disk: when calls are slow, runs many of them at once, as measured latency permits
// (`pipeline.io_depth`). libuv runs all file operations of a process in one thread pool; one disk gets a
// share of it.

export type DiskQueue = {
  /** False while calls return so fast that synchronous ones are cheaper. */
  isSlow: () => boolean
  /** Counts a synchronous call; enough long ones make the disk slow for the lifetime of the queue. */
  record: (ms: number) => void
  /** How many calls may be in flight now. */
  depth: () => number
  /** Starts the call as soon as a slot is free. */
  run: <T>(call: () => Promise<T>) => Promise<T>
  /** Runs a call for each item. No more calls wait than may be in flight, however many items there are. */
  each: <I, T>(items: readonly I[], call: (item: I) => Promise<T>) => Promise<T[]>
  /** Resolves when few calls are waiting, so more can be prepared. */
  whenFree: () => Promise<void>
}

// A call on a local disk takes 3 µs from the system's cache, 100 µs from an SSD; on a network disk at least
// 500 µs. An asynchronous call costs 15 µs of CPU time.
const slowMs = 0.3
// A busy machine delays individual calls.
const slowCalls = 8
const firstDepth = 8
// Latency that grows this much with depth means that calls queue in a disk that others use too. Below 10 ms
// it may just be a busy machine.
const maxGrowth = 4
const minLowestMs = 2.5

// Share of libuv's thread pool: a hung disk must leave threads for the others. That is 48 of the 128 that
// cmd/stackroom.mjs sets.
const maxShare = 3 / 8

type DiskQueueOptions = {
  /**
   * Calls in flight: 0 derives the number from latency; from 2 on, the disk counts as slow from the start.
   */
  depth: number
  /** Number of queues of one library that run at the same time and share the depth. */
  share?: number
}

export function createDiskQueue({ depth, share = 1 }: DiskQueueOptions): DiskQueue {
  const most = Math.max(
    1,
    Math.floor(Math.min(depth || Number.POSITIVE_INFINITY, shareOfPool()) / share),
  )
  const adapted = depth === 0 ? createDepth(most) : null
  let limit = adapted ? Math.min(firstDepth, most) : most
  let slowScore = depth > 1 ? slowCalls : 0
  let inFlight = 0
  const waiting: (() => void)[] = []
  let onFree: (() => void)[] = []

  function release(ms: number) {
    if (adapted) limit = adapted.next(ms, limit)
    inFlight -= 1
    while (inFlight < limit && waiting.length > 0) {
      inFlight += 1
      waiting.shift()!()
    }
    if (waiting.length >= limit || onFree.length === 0) return
    const resume = onFree
    onFree = []
    for (const resolve of resume) resolve()
  }
  async function run<T>(call: () => Promise<T>): Promise<T> {
    if (inFlight < limit) inFlight += 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    const startedAt = performance.now()
    try {
      return await call()
    } finally {
      release(performance.now() - startedAt)
    }
  }
  return {
    depth: () => limit,
    run,
    async each(items, call) {
      const results = new Array<Awaited<ReturnType<typeof call>>>(items.length)
      let next = 0
      const work = async () => {
        while (next < items.length) {
          const i = next++
          results[i] = await run(() => call(items[i]!))
        }
      }
      await Promise.all(Array.from({ length: Math.min(most, items.length) }, work))
      return results
    },
    whenFree: () =>
      waiting.length < limit
        ? Promise.resolve()
        : new Promise(resolve => {
            onFree.push(resolve)
          }),
    isSlow: () => slowScore >= slowCalls,
    record(ms) {
      if (depth !== 0 || slowScore >= slowCalls) return
      slowScore = ms > slowMs ? slowScore + 1 : Math.max(0, slowScore - 1)
      if (ms > slowMs) adapted?.start(ms)
    },
  }
}

/** Doubles the depth while latency stays near its minimum, and halves it otherwise. */
export function createDepth(most: number) {
  const least = Math.min(2, most)
  let lowestMs = Number.POSITIVE_INFINITY
  let calls = 0
  let sumMs = 0
  return {
    start(ms: number) {
      lowestMs = Math.min(lowestMs, ms)
    },
    next(ms: number, limit: number): number {
      // Served from a cache.
      if (ms < slowMs) return limit
      calls += 1
      sumMs += ms
      if (calls < 2 * limit) return limit
      const meanMs = sumMs / calls
      calls = 0
      sumMs = 0
      // At the minimum depth calls do not wait for each other, so the disk itself became slower.
      lowestMs = limit === least ? meanMs : Math.min(lowestMs, meanMs)
      return meanMs > maxGrowth * Math.max(lowestMs, minLowestMs)
        ? Math.max(least, Math.floor(limit / 2))
        : Math.min(most, limit * 2)
    },
  }
}

const shareOfPool = () =>
  Math.max(1, Math.floor(Number(process.env.UV_THREADPOOL_SIZE ?? 4) * maxShare))
