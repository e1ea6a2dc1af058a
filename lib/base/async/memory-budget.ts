// Memory budget of decoding: limits the memory that this process's threads use for large images at the same
// time; an image that exceeds the budget is decoded alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const budgetMb = 64
// Smaller work is not worth counting.
const minMb = 4
const pollMs = 20

/** [MiB reserved by all threads, large reservations waiting]. Threads inherit it from the main thread. */
const key = 'stackroom.memory-budget'
if (isMainThread && !getEnvironmentData(key))
  setEnvironmentData(key, new Int32Array(new SharedArrayBuffer(8)) as never)
const budget = getEnvironmentData(key) as unknown as Int32Array

/** See ThreadControl in thread-pool.ts. */
type Control = Int32Array
let run: Control | null = null

/**
 * Connects the thread to its current call: if the thread dies, the pool releases what the call had reserved.
 */
export function enterRun(control: Control): void {
  run = control
}

/**
 * Runs `work`, which needs about `bytes` of memory, as soon as the budget allows; immediately outside pool
 * threads.
 */
export async function withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  const mb = Math.ceil(bytes / 2 ** 20)
  if (run === null || mb < minMb) return work()
  const control = run
  await reserve(control, mb)
  try {
    return await work()
  } finally {
    add(control, 0, -mb)
  }
}

async function reserve(control: Control, mb: number) {
  const isLarge = mb > budgetMb / 2
  // Otherwise smaller work would overtake it forever.
  if (isLarge) add(control, 1, 1)
  for (;;) {
    const reserved = Atomics.load(budget, 0)
    const fits = reserved + mb <= budgetMb && (isLarge || Atomics.load(budget, 1) === 0)
    const isFree = reserved === 0 || fits
    if (isFree && Atomics.compareExchange(budget, 0, reserved, reserved + mb) === reserved) break
    // Heartbeat of the waiting thread.
    Atomics.add(control, 1, 1)
    if (!isFree) await sleep(pollMs)
  }
  Atomics.add(control, 3, mb)
  if (isLarge) add(control, 1, -1)
}

/** Releases what a call could not release because its thread was terminated. */
export function releaseRun(control: Control): void {
  for (const index of [0, 1]) add(control, index, -Atomics.load(control, 3 + index))
}

function add(control: Control, index: number, count: number) {
  Atomics.add(control, 3 + index, count)
  Atomics.add(budget, index, count)
}
