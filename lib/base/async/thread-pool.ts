// Thread pool for untrusted files. A thread that stalls or runs out of memory is terminated and replaced;
// only the item it was working on fails.
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { endsThread, isShortage, Shortage, threadShortage, type UnreadableCode } from '../errors.ts'
import { releaseRun } from './memory-budget.ts'
import { createSemaphore } from './semaphore.ts'
import { isWorn } from './thread-task.ts'

// A small young generation: with V8's default, two threads take 100 MB more and are no faster.
const youngGenerationMb = 16

/**
 * Memory shared by the pool and a thread: [index of the current item, heartbeat counter, 1 to return after
 * the current item, MiB reserved, reservations waiting].
 */
type ThreadControl = Int32Array

/** Message to a thread. */
export type ThreadRequest<I, R> = { items: I[]; options: R; control: ThreadControl }

export type ThreadFailure = { code: UnreadableCode; message: string }

/** Results of the first items; a thread may return early, so `done` may be shorter than the items. */
type PartialResult<O> = { done: O[]; failure: ThreadFailure | null; failedIndex: number }

/**
 * `urgent` runs before all waiting calls. When `signal` aborts, the thread has `abortGraceMs` to return.
 * `timeoutMs` overrides the pool's timeout.
 */
type RunOptions = { urgent?: boolean; signal?: AbortSignal | undefined; timeoutMs?: number }

const abortGraceMs = 1_000
const maxCloseMs = 1_500
const heartbeatCheckMs = 250

export type ThreadPool = ReturnType<typeof openThreadPool>

export type ThreadOptions = {
  /** The module whose exports are the tasks: `(request: ThreadRequest<I, R>) => Promise<O[]>`. */
  file: string
  /** 0 means one per core. */
  maxThreads: number
  /** How long a thread may run without a heartbeat. */
  timeoutMs: number
  memoryMb: number
  /** How long an idle thread is retained. */
  idleMs: number
  /** Read by the module as `workerData` of Piscina. */
  workerData?: Record<string, number>
  /** Called with errors that are bugs, not properties of a file. */
  onBug: (error: unknown) => void
}

export function openThreadPool(options: ThreadOptions) {
  const size = options.maxThreads || availableParallelism()
  // Created on first use: each thread loads every format.
  let pool: Piscina | null = null
  const running = new Map<ThreadControl, AbortController>()
  /** Without this, a call whose thread could not start would stay in Piscina's queue until the next call. */
  function onThreadError(error: Error) {
    const failure = noThread(error)
    for (const [control, terminator] of running) if (!hasStarted(control)) terminator.abort(failure)
  }
  function noThread(error: unknown): Shortage {
    if (!isShortage(error)) options.onBug(error)
    return threadShortage(error)
  }
  const createPool = () => {
    const poolOptions = {
      filename: options.file,
      // All threads end when idle: each takes 60 MB.
      minThreads: 0,
      maxThreads: size,
      idleTimeout: options.idleMs,
      workerData: options.workerData,
      // With 'sync' an idle thread blocks in Atomics.wait while sharp is still working in it.
      atomics: 'disabled' as const,
      resourceLimits: {
        maxOldGenerationSizeMb: options.memoryMb,
        maxYoungGenerationSizeMb: youngGenerationMb,
      },
    }
    return openPiscina(poolOptions, onThreadError)
  }
  // Waiting calls queue here: Piscina's own queue does not prioritize abortable tasks.
  const semaphore = createSemaphore({
    slots: size,
    onUrgentWait: () => {
      for (const control of running.keys()) requestReturn(control)
    },
  })
  return {
    size,
    timeoutMs: options.timeoutMs,
    /**
     * Runs a task over the items, possibly only the first ones. On failure `done` is empty and `failedIndex`
     * is the index of the item that the thread was working on. Running threads return early for an urgent
     * call. An aborted call returns the results finished so far, or none; a thread that does not return in
     * time is terminated and its results are lost. Throws Shortage.
     */
    async run<I, R, O>(
      task: string,
      { items, options: taskOptions }: { items: I[]; options: R },
      { urgent = false, signal, timeoutMs = options.timeoutMs }: RunOptions = {},
    ): Promise<PartialResult<O>> {
      const control: ThreadControl = new Int32Array(new SharedArrayBuffer(20))
      await semaphore.acquire({ urgent })
      const terminator = new AbortController()
      running.set(control, terminator)
      const heartbeat = watchHeartbeat(control, timeoutMs, () => terminator.abort())
      const stopListening = returnOnAbort(signal, control, terminator)
      try {
        if (signal?.aborted) return { done: [], failure: null, failedIndex: -1 }
        pool ??= createPool()
        const request: ThreadRequest<I, R> = { items, options: taskOptions, control }
        const runOptions = { name: task, signal: terminator.signal }
        const call = (): Promise<O[]> => pool!.run(request, runOptions)
        const done = await repeatIfWorn(call, control, items.length === 1 ? size + 1 : 0)
        return { done, failure: null, failedIndex: -1 }
      } catch (error) {
        if (signal?.aborted) return { done: [], failure: null, failedIndex: -1 }
        const { aborted, reason } = terminator.signal
        if (reason instanceof Shortage) throw reason
        if (endsThread(error)) throw noThread(error)
        const failure = toFailure(error, aborted, options)
        return { done: [], failure, failedIndex: Atomics.load(control, 0) }
      } finally {
        clearInterval(heartbeat)
        stopListening()
        releaseRun(control)
        running.delete(control)
        semaphore.release()
      }
    },
    /** A thread that is blocked by its disk ends when the disk responds, or with the process. */
    async close() {
      const abandon = new AbortController()
      const late = sleep(maxCloseMs, null, { signal: abandon.signal }).catch(() => {})
      await Promise.race([pool?.destroy(), late]).finally(() => abandon.abort())
    },
  }
}

/**
 * Repeats a call whose thread ended as worn; the next thread may be a used one too. If there were several
 * items, the failed one is run alone later.
 */
async function repeatIfWorn<O>(
  call: () => Promise<O[]>,
  control: ThreadControl,
  times: number,
): Promise<O[]> {
  for (let left = times; ; left -= 1) {
    try {
      return await call()
    } catch (error) {
      if (left === 0 || !isWorn(error)) throw error
      // Not started yet.
      Atomics.store(control, 1, 0)
    }
  }
}

const hasStarted = (control: ThreadControl) => Atomics.load(control, 1) > 0

const requestReturn = (control: ThreadControl) => Atomics.store(control, 2, 1)

/**
 * Makes the thread return when `signal` aborts, and terminates it after a grace period. Returns a function
 * that stops listening.
 */
function returnOnAbort(
  signal: AbortSignal | undefined,
  control: ThreadControl,
  terminator: AbortController,
) {
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    requestReturn(control)
    timer = setTimeout(() => terminator.abort(), abortGraceMs)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    signal?.removeEventListener('abort', onAbort)
    clearTimeout(timer)
  }
}

function watchHeartbeat(control: ThreadControl, timeoutMs: number, onStalled: () => void) {
  let lastCount = 0
  let lastChange = Date.now()
  return setInterval(() => {
    const count = Atomics.load(control, 1)
    // A count of 0 means that the thread has not started yet.
    if (count !== lastCount || count === 0) {
      lastCount = count
      lastChange = Date.now()
    } else if (Date.now() - lastChange > timeoutMs) onStalled()
  }, heartbeatCheckMs)
}

function toFailure(error: unknown, isStalled: boolean, options: ThreadOptions): ThreadFailure {
  if (isStalled)
    return { code: 'timeout', message: `Reading took longer than ${options.timeoutMs / 1000} s` }
  if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' || isWorn(error)) {
    return { code: 'memory', message: `Reading needed more than ${options.memoryMb} MB` }
  }
  // The thread crashed or hit a bug on this item; the other items continue.
  options.onBug(error)
  return { code: 'internal', message: 'Internal error; see the server log' }
}

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>

/**
 * `onError` receives errors that belong to no call; without a listener they would end the process. A result
 * that arrives after its thread was terminated is such an error to Piscina, but ignored here.
 */
export function openPiscina(options: PiscinaOptions, onError: (error: Error) => void): Piscina {
  const pool = new Piscina(options)
  pool.on('error', (error: Error) => {
    if (!/^Unexpected message from Worker/.test(error.message)) onError(error)
  })
  return pool
}
