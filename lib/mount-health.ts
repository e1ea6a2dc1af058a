// Health of the file systems that libraries lie on. A folder that does not respond, like a network mount whose
// server is away, blocks the threads that read it; a probe finds it, and until it responds again every use of
// it fails at once.
import { opendir, stat } from 'node:fs/promises'
import { createSemaphore } from './async/semaphore.ts'
import { NotResponding, Unavailable } from './errors.ts'

/** Reads the folder from its disk; resolves or rejects as soon as the disk responds. */
type Probe = (root: Buffer) => Promise<unknown>

type Options = {
  probe?: Probe
  /** How often calls and probes are looked at. */
  tickMs?: number
  /** A call that takes longer causes a probe. */
  slowMs?: number
  /** The folder is hung when a probe takes that many ticks: not a time, because the event loop may pause. */
  hungTicks?: number
}

type CallOptions<T> = {
  /** Gives up waiting, with Unavailable. */
  signal?: AbortSignal | undefined
  /** Receives a result that arrives after the call was given up. */
  discard?: ((value: T) => void) | undefined
}

type Call = { since: number; isThread: boolean; fail: (error: unknown) => void }

type Mount = {
  root: string
  calls: Set<Call>
  /** How many have not ended, with those that were given up. */
  running: number
  slots: ReturnType<typeof createSemaphore>
  /** ms since 1970. */
  hungSince: number | null
  /** The latest, until one of them returns. */
  probe: { ticks: number; isStarted: boolean } | null
  /** Those that have not returned. */
  probes: number
  probedAt: number
}

/** A folder, latin1 (one character per byte), and since when it has not responded; `seconds` once it does. */
export type MountChange = { root: string; since: Date; seconds: number | null }

// Calls of one library in the thread pool of the process: it has room for many libraries that hang.
const maxCalls = 16
// The longest time of one such call: a mount may hang below a root that responds.
const maxCallMs = 15_000
// A mount that was replaced leaves its calls behind for ever, probes as well.
const maxProbes = 4
const probeAgainMs = 10_000

const createMount = (root: string): Mount => ({
  root,
  calls: new Set(),
  running: 0,
  slots: createSemaphore({ slots: maxCalls }),
  hungSince: null,
  probe: null,
  probes: 0,
  probedAt: 0,
})

/** `root` is always the folder of a library as a latin1 string, as in Containment. */
export function createMountHealth({
  probe = readFolder,
  tickMs = 500,
  slowMs = 1_500,
  hungTicks = 5,
}: Options = {}) {
  const mounts = new Map<string, Mount>()
  const listeners = new Set<(change: MountChange) => void>()
  let timer: NodeJS.Timeout | null = null
  let hasHung = false

  function mountOf(root: string): Mount {
    const known = mounts.get(root)
    if (known) return known
    const mount = createMount(root)
    mounts.set(root, mount)
    timer ??= setInterval(tick, tickMs).unref()
    return mount
  }

  function tick() {
    const now = performance.now()
    for (const mount of mounts.values()) check(mount, now)
    if (mounts.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  function check(mount: Mount, now: number) {
    if (mount.hungSince !== null) {
      if (now - mount.probedAt > probeAgainMs) startProbe(mount, now)
      return
    }
    if (mount.probe) {
      mount.probe.ticks += 1
      // A probe that waits for a thread does not count, unless all threads wait for disks.
      const limit = mount.probe.isStarted ? hungTicks : 4 * hungTicks
      if (mount.probe.ticks >= limit) setHung(mount)
      return
    }
    for (const call of mount.calls) {
      if (now - call.since <= slowMs) break
      if (!call.isThread && now - call.since > maxCallMs) call.fail(new NotResponding())
      else if (now - mount.probedAt > slowMs) startProbe(mount, now)
    }
    if (mount.running === 0 && mount.calls.size === 0) mounts.delete(mount.root)
  }

  function startProbe(mount: Mount, now: number) {
    if (mount.probes >= maxProbes) return
    mount.probedAt = now
    runProbe(mount, probe).then(() => {
      if (mount.hungSince !== null) setResponding(mount)
    })
  }

  function setHung(mount: Mount) {
    hasHung = true
    mount.hungSince = Date.now()
    mount.probe = null
    for (const call of mount.calls) call.fail(new NotResponding())
    notify({ root: mount.root, since: new Date(mount.hungSince), seconds: null })
  }

  function setResponding(mount: Mount) {
    const since = mount.hungSince!
    mount.hungSince = null
    mount.slots = createSemaphore({ slots: maxCalls })
    notify({ root: mount.root, since: new Date(since), seconds: (Date.now() - since) / 1000 })
  }

  function notify(change: MountChange) {
    for (const listener of listeners) listener(change)
  }

  return {
    /**
     * Runs a short asynchronous use of the folder; some of a library run at the same time. Throws
     * NotResponding when the folder hangs, now or later, while `work` goes on.
     */
    run: <T>(root: string, work: () => Promise<T>, options: CallOptions<T> = {}): Promise<T> =>
      runCall(mountOf(root), work, { ...options, isThread: false }),
    /** The same for work in threads, of any number and duration. `signal` aborts when the folder hangs. */
    runThread: <T>(
      root: string,
      work: (signal: AbortSignal) => Promise<T>,
      options: CallOptions<T> = {},
    ): Promise<T> => runCall(mountOf(root), work, { ...options, isThread: true }),
    isHung: (root: string): boolean => (mounts.get(root)?.hungSince ?? null) !== null,
    /** How many of the folders hang. */
    countHung: (): number => [...mounts.values()].filter(mount => mount.hungSince !== null).length,
    /** Whether any of them ever did. */
    hasHung: () => hasHung,
    /** Calls `listener` when a folder begins to hang and when it responds again. */
    listen(listener: (change: MountChange) => void): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
}

async function runCall<T>(
  mount: Mount,
  work: (signal: AbortSignal) => Promise<T>,
  { signal, discard, isThread }: CallOptions<T> & { isThread: boolean },
): Promise<T> {
  if (mount.hungSince !== null) throw new NotResponding()
  if (signal?.aborted) throw new Unavailable('Request was cancelled')
  const ended = Promise.withResolvers<T>()
  const abort = new AbortController()
  const call: Call = {
    since: performance.now(),
    isThread,
    fail(error) {
      if (!mount.calls.delete(call)) return
      signal?.removeEventListener('abort', cancel)
      ended.reject(error)
      abort.abort(error)
    },
  }
  const cancel = () => call.fail(new Unavailable('Request was cancelled'))
  signal?.addEventListener('abort', cancel, { once: true })
  mount.calls.add(call)
  const start = async () => {
    mount.running += 1
    try {
      return await work(abort.signal)
    } finally {
      mount.running -= 1
    }
  }
  const result = isThread ? start() : mount.slots.run(start, { signal: abort.signal })
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

/** Resolves when the folder responds, also with an error. */
async function runProbe(mount: Mount, probe: Probe) {
  const state = { ticks: 0, isStarted: false }
  mount.probe = state
  mount.probes += 1
  // Calls get threads in their order, so that this one ends after the probe has got its thread.
  const isStarted = () => {
    state.isStarted = true
    state.ticks = 0
  }
  const responds = probe(Buffer.from(mount.root, 'latin1')).catch(() => {})
  stat(process.execPath).then(isStarted, isStarted)
  await responds
  mount.probe = null
  mount.probes -= 1
}

// Network file systems answer `stat` from memory for a while, but ask the server when a folder is opened.
async function readFolder(root: Buffer) {
  await stat(root)
  const folder = await opendir(root, { bufferSize: 1 })
  await folder.read()
  await folder.close()
}

/** Health of the libraries, as this process sees it. */
export const mountHealth = createMountHealth()
/** Of folders that are named by requests and arguments, and need not be libraries. */
export const folderHealth = createMountHealth()

/** Of the folders of caches. */
export const cacheHealth = createMountHealth()

/** Whether threads may be blocked for ever: then the process must not wait for them to end. */
export const hasBlockedThreads = (): boolean =>
  [mountHealth, folderHealth, cacheHealth].some(health => health.hasHung())

/** The key of a library folder. */
export const mountKey = (root: Uint8Array): string => Buffer.from(root).toString('latin1')
