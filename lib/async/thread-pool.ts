// A pool of threads for bytes that are not ours. A thread that stalls or runs out of memory is killed
// and replaced; what it was on is named, and everything else goes on.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { UnreadableCode } from '../errors.ts'
import { openTurns } from './semaphore.ts'

// A small nursery: with V8's own choice two threads hold 100 MB more and are not faster.
const youngMb = 16

/**
 * Shared with a thread: [index of the item at hand, ticks so far, whether to hand back after this item].
 * A tick is a sign of life.
 */
export type Pulse = Int32Array

export type Order<I, R> = { items: I[]; rules: R; pulse: Pulse }

export type ThreadFailure = { code: UnreadableCode; message: string }

/** Results of the first items; a thread may hand back after a slice of time, so `done` may be a prefix. */
export type Slice<O> = { done: O[]; failure: ThreadFailure | null; blame: number }

/** `urgent` goes before all that waits. After `signal` a thread has a second to hand back. */
type Manner = { urgent?: boolean; signal?: AbortSignal }

const graceMs = 1_000

export type Threads = ReturnType<typeof openThreads>

export type ThreadOptions = {
  /** The module whose exports are the tasks: `(order: Order<I, R>) => Promise<O[]>`. */
  file: URL
  /** 0 means one per core. */
  threads: number
  timeoutMs: number
  memoryMb: number
  /** How long a thread without work stays. */
  idleMs: number
  /** How many stay although there is no work; one unless said otherwise. */
  keep?: number
  /** Told of errors that are ours and not the file's. */
  onBug: (error: unknown) => void
}

export function openThreads(options: ThreadOptions) {
  const size = options.threads || availableParallelism()
  // Made when there is something to do: a thread loads every format.
  let pool: Piscina | null = null
  const make = () =>
    new Piscina({
      filename: options.file.href,
      minThreads: options.keep ?? 1,
      maxThreads: size,
      idleTimeout: options.idleMs,
      // With 'sync' an idle thread freezes in Atomics.wait while sharp works in it.
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: options.memoryMb,
        maxYoungGenerationSizeMb: youngMb,
      },
    })
  // What waits is kept here: the pool's own line would let nobody pass whose task can be aborted.
  const underWay = new Set<Pulse>()
  const turns = openTurns(size, () => {
    for (const pulse of underWay) Atomics.store(pulse, 2, 1)
  })
  return {
    size,
    /**
     * Runs a task over the first items. On a failure `done` is empty and `blame` is the index of the
     * item that the thread was on. What is `urgent` goes before all that waits, and what is under way
     * hands back early for it. What is aborted does nothing, or hands back what it has; a thread that
     * does neither is killed, and then there is nothing of it.
     */
    async run<I, R, O>(
      task: string,
      { items, rules }: { items: I[]; rules: R },
      { urgent = false, signal }: Manner = {},
    ): Promise<Slice<O>> {
      const pulse: Pulse = new Int32Array(new SharedArrayBuffer(12))
      await turns.begin(urgent)
      underWay.add(pulse)
      const stall = new AbortController()
      const watch = watchPulse(pulse, options.timeoutMs, () => stall.abort())
      const calm = hurry(signal, pulse, stall)
      try {
        if (signal?.aborted) return { done: [], failure: null, blame: -1 }
        pool ??= make()
        const done: O[] = await pool.run({ items, rules, pulse } satisfies Order<I, R>, {
          name: task,
          signal: stall.signal,
        })
        return { done, failure: null, blame: -1 }
      } catch (error) {
        if (signal?.aborted) return { done: [], failure: null, blame: -1 }
        const failure = failureOf(error, stall.signal.aborted, options)
        return { done: [], failure, blame: Atomics.load(pulse, 0) }
      } finally {
        clearInterval(watch)
        calm()
        underWay.delete(pulse)
        turns.end()
      }
    },
    close: async () => pool?.destroy(),
  }
}

/** When `signal` says so: hand back after this item, or else be killed. Answers how to stop listening. */
function hurry(signal: AbortSignal | undefined, pulse: Pulse, stall: AbortController) {
  let grace: NodeJS.Timeout | undefined
  const act = () => {
    Atomics.store(pulse, 2, 1)
    grace = setTimeout(() => stall.abort(), graceMs)
  }
  signal?.addEventListener('abort', act, { once: true })
  return () => {
    signal?.removeEventListener('abort', act)
    clearTimeout(grace)
  }
}

function watchPulse(pulse: Pulse, timeoutMs: number, stalled: () => void) {
  let ticks = 0
  let since = Date.now()
  return setInterval(() => {
    const now = Atomics.load(pulse, 1)
    // Zero ticks: its thread has not begun yet.
    if (now !== ticks || now === 0) {
      ticks = now
      since = Date.now()
    } else if (Date.now() - since > timeoutMs) stalled()
  }, 250)
}

function failureOf(error: unknown, stalled: boolean, options: ThreadOptions): ThreadFailure {
  if (stalled)
    return { code: 'timeout', message: `Reading took longer than ${options.timeoutMs / 1000} s` }
  if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { code: 'memory', message: `Reading needed more than ${options.memoryMb} MB` }
  }
  // The thread died or our code failed on this item: it is named, the others go on.
  options.onBug(error)
  return { code: 'internal', message: 'Reading failed; the log says why' }
}
