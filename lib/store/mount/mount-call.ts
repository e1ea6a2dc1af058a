// A call on a mount: it fails when the mount hangs, is given up when it takes too long, and holds a slot
// until it ends.
import { createSemaphore } from '../../base/async/semaphore.ts'
import { NotResponding, Unavailable } from '../../base/errors.ts'
import { createHungFolders, type HungFolders } from './hung-folders.ts'

export type CallOptions<T> = {
  /** Where the file is (`folderOf`); not for work in threads. */
  folder?: string | undefined
  /** Stops waiting, with Unavailable. */
  signal?: AbortSignal | undefined
  /** Receives a result that arrives after the call was given up. */
  discard?: ((value: T) => void) | undefined
}

export type Call = {
  since: number
  isThread: boolean
  isStarted: boolean
  /** Timer ticks since it started waiting, and later since it was started. */
  ticks: number
  fail: (error: unknown) => void
  /** Fails the call and lets another one take its place. */
  giveUp: () => void
}

/** Called when a folder below a library root starts to hang, and when it responds again. */
export type NotifyFolder = (folder: string, isHung: boolean) => void

export type Mount = {
  root: string
  calls: Set<Call>
  /** How many calls have not ended, including those given up. */
  running: number
  slots: ReturnType<typeof createSemaphore>
  /** How many given-up calls have not ended. */
  givenUp: number
  hungFolders: HungFolders
  notifyFolder: NotifyFolder
  /** ms since 1970. */
  hungSince: number | null
  /** The latest probe, until any of them returns. */
  probe: { ticks: number; isStarted: boolean } | null
  /** How many probes have not returned. */
  probes: number
  probedAt: number
}

// Calls of one library in the process's thread pool, which has room for many hung libraries.
const maxCalls = 16
// Leaves the remaining threads to other libraries.
const maxGivenUp = 32
const createSlots = () => createSemaphore({ slots: maxCalls })

export const createMount = (root: string, notifyFolder: NotifyFolder): Mount => ({
  root,
  calls: new Set(),
  running: 0,
  slots: createSlots(),
  givenUp: 0,
  hungFolders: createHungFolders(),
  notifyFolder,
  hungSince: null,
  probe: null,
  probes: 0,
  probedAt: 0,
})

/** Replaces the slots, all of which may be held by calls that never end. */
export function freeSlots(mount: Mount) {
  mount.slots = createSlots()
}

/** Throws NotResponding if the mount or the call's folder hangs, now or later. */
export async function runCall<T>(
  mount: Mount,
  work: (signal: AbortSignal) => Promise<T>,
  { signal, discard, folder, isThread }: CallOptions<T> & { isThread: boolean },
): Promise<T> {
  const { hungFolders } = mount
  if (signal?.aborted) throw new Unavailable('Request was canceled')
  if (mount.hungSince !== null || mount.givenUp >= maxGivenUp) throw new NotResponding()
  if (folder !== undefined && hungFolders.isHung(folder)) throw new NotResponding()
  const ended = Promise.withResolvers<T>()
  const released = Promise.withResolvers<void>()
  const abort = new AbortController()
  let isGivenUp = false
  const call: Call = {
    since: performance.now(),
    isThread,
    isStarted: false,
    ticks: 0,
    fail(error) {
      if (!mount.calls.delete(call)) return
      signal?.removeEventListener('abort', cancel)
      ended.reject(error)
      abort.abort(error)
    },
    giveUp() {
      if (call.isStarted) {
        isGivenUp = true
        mount.givenUp += 1
        if (folder !== undefined && hungFolders.add(folder)) mount.notifyFolder(folder, true)
      }
      released.resolve()
      call.fail(new NotResponding())
    },
  }
  const cancel = () => call.fail(new Unavailable('Request was canceled'))
  signal?.addEventListener('abort', cancel, { once: true })
  mount.calls.add(call)
  const start = async () => {
    // It may have started to hang while the call waited.
    if (folder !== undefined && !hungFolders.admits(folder)) throw new NotResponding()
    call.isStarted = true
    call.ticks = 0
    mount.running += 1
    try {
      return await work(abort.signal)
    } finally {
      mount.running -= 1
      if (isGivenUp) mount.givenUp -= 1
      if (folder !== undefined && hungFolders.delete(folder)) mount.notifyFolder(folder, false)
    }
  }
  const result = isThread ? start() : startInSlot(mount, start, { released, abort })
  result.then(
    value => {
      if (!mount.calls.delete(call)) return discard?.(value)
      signal?.removeEventListener('abort', cancel)
      ended.resolve(value)
    },
    error => call.fail(error),
  )
  return ended.promise
}

type SlotOptions = { released: PromiseWithResolvers<void>; abort: AbortController }

/** Holds a slot until the work ends or `released` resolves. */
async function startInSlot<T>(
  { slots }: Mount,
  start: () => Promise<T>,
  { released, abort }: SlotOptions,
): Promise<T> {
  await slots.acquire({ signal: abort.signal })
  const running = start()
  running.then(released.resolve as () => void, released.resolve)
  void released.promise.then(slots.release)
  return await running
}
