// A call on a mount: it fails when the mount hangs, is given up when it takes too long, and occupies a slot meanwhile.
import { createSemaphore } from '../../base/async/semaphore.ts'
import { NotResponding, Unavailable } from '../../base/errors.ts'
import { createHungFolders, type HungFolders } from './hung-folders.ts'

export type CallOptions<T> = {
  /** Where the file lies (`folderOf`); not for work in threads. */
  folder?: string | undefined
  /** Gives up waiting, with Unavailable. */
  signal?: AbortSignal | undefined
  /** Receives a result that arrives after the call was given up. */
  discard?: ((value: T) => void) | undefined
}

export type Call = {
  since: number
  isThread: boolean
  isStarted: boolean
  /** Ticks of the timer since it began to wait, then since it was started. */
  ticks: number
  fail: (error: unknown) => void
  /** Fails, and lets another call take its place. */
  giveUp: () => void
}

/** Called when a folder below the root of a library begins to hang, and when it responds again. */
export type NotifyFolder = (folder: string, isHung: boolean) => void

export type Mount = {
  root: string
  calls: Set<Call>
  /** How many have not ended, with those that were given up. */
  running: number
  slots: ReturnType<typeof createSemaphore>
  /** How many of those that were given up have not ended. */
  givenUp: number
  hungFolders: HungFolders
  notifyFolder: NotifyFolder
  /** ms since 1970. */
  hungSince: number | null
  /** The latest, until one of them returns. */
  probe: { ticks: number; isStarted: boolean } | null
  /** Those that have not returned. */
  probes: number
  probedAt: number
}

// Calls of one library in the thread pool of the process: it has room for many libraries that hang.
const maxCalls = 16
// The rest of the threads is for other libraries.
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

/** Replaces the slots: calls that never end may hold all of them. */
export function freeSlots(mount: Mount) {
  mount.slots = createSlots()
}

/** Throws NotResponding when the mount or the folder of the call hangs, now or later. */
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
    // It may have begun to hang while the call waited.
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
  released.promise.then(slots.release)
  return await running
}
