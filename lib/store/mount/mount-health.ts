// Health of library file systems. A folder that does not respond, such as a network mount whose server is
// gone, blocks the threads that read it. A probe detects this, and every use of the folder fails immediately
// until it responds again.
import { opendir, stat } from 'node:fs/promises'
import { NotResponding } from '../../base/errors.ts'
import { parentPath } from '../../base/path.ts'
import {
  type Call,
  type CallOptions,
  createMount,
  freeSlots,
  type Mount,
  runCall,
} from './mount-call.ts'

/** Reads the folder from its disk; resolves or rejects as soon as the disk responds. */
type Probe = (root: Buffer) => Promise<unknown>

type Options = {
  probe?: Probe
  /** How often calls and probes are checked. */
  tickMs?: number
  /** A call that takes longer triggers a probe. */
  slowMs?: number
  /**
   * The folder counts as hung if a probe takes this many ticks. Not a duration, because the event loop may
   * pause.
   */
  hungTicks?: number
  /**
   * The maximum duration, in ticks, of a call outside threads: a mount may hang below a root that responds.
   */
  maxCallTicks?: number
}

/** A folder, latin1 (one character per byte), and since when it has not responded; `seconds` once it does. */
export type MountChange = { root: string; since: Date; seconds: number | null }

// A replaced mount leaves its calls, including probes, behind forever.
const maxProbes = 4
const probeAgainMs = 10_000

/** `root` is always a library folder as a latin1 string, as in Containment. */
export function createMountHealth({
  probe = readFolder,
  tickMs = 500,
  slowMs = 1_500,
  hungTicks = 5,
  maxCallTicks = 30,
}: Options = {}) {
  const mounts = new Map<string, Mount>()
  const changes = createListeners<[change: MountChange]>()
  const folders = createListeners<[folder: string, isHung: boolean]>()
  let timer: NodeJS.Timeout | null = null
  let hasHung = false

  function mountOf(root: string): Mount {
    const known = mounts.get(root)
    if (known) return known
    const mount = createMount(root, folders.notify)
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
      // A probe that waits for a thread does not count, unless all threads are waiting for disks.
      const limit = mount.probe.isStarted ? hungTicks : 4 * hungTicks
      if (mount.probe.ticks >= limit) setHung(mount)
      return
    }
    for (const call of mount.calls) {
      call.ticks += 1
      if (isOverdue(call, maxCallTicks)) {
        hasHung ||= call.isStarted
        call.giveUp()
      } else if (now - call.since > slowMs && now - mount.probedAt > slowMs) startProbe(mount, now)
    }
    if (mount.running === 0 && mount.calls.size === 0) mounts.delete(mount.root)
  }

  function startProbe(mount: Mount, now: number) {
    if (mount.probes >= maxProbes) return
    mount.probedAt = now
    void runProbe(mount, probe).then(() => {
      if (mount.hungSince !== null) setResponding(mount)
    })
  }

  function setHung(mount: Mount) {
    hasHung = true
    mount.hungSince = Date.now()
    mount.probe = null
    for (const call of mount.calls) call.fail(new NotResponding())
    changes.notify({ root: mount.root, since: new Date(mount.hungSince), seconds: null })
  }

  function setResponding(mount: Mount) {
    const since = mount.hungSince!
    mount.hungSince = null
    freeSlots(mount)
    changes.notify({
      root: mount.root,
      since: new Date(since),
      seconds: (Date.now() - since) / 1000,
    })
  }

  return {
    /**
     * Runs a short asynchronous use of the folder; several of a library run concurrently. Throws
     * NotResponding if the folder hangs, or `folder` below it, now or later, while `work` continues.
     */
    run: <T>(root: string, work: () => Promise<T>, options: CallOptions<T> = {}): Promise<T> =>
      runCall(mountOf(root), work, { ...options, isThread: false }),
    /** Like `run`, for work in threads, of any number and duration. `signal` aborts when the folder hangs. */
    runThread: <T>(
      root: string,
      work: (signal: AbortSignal) => Promise<T>,
      options: Omit<CallOptions<T>, 'folder'> = {},
    ): Promise<T> => runCall(mountOf(root), work, { ...options, isThread: true }),
    isHung: (root: string): boolean => (mounts.get(root)?.hungSince ?? null) !== null,
    /** How many of the folders hang. */
    countHung: (): number => [...mounts.values()].filter(mount => mount.hungSince !== null).length,
    /** Whether any of them, or a folder inside one, has ever hung. */
    hasHung: () => hasHung,
    /** Calls `listener` when a folder starts to hang and when it responds again. */
    listen: changes.listen,
    /** Like `listen`, for folders below them. */
    listenFolders: folders.listen,
  }
}

export type MountHealth = ReturnType<typeof createMountHealth>

// A waiting call gets twice the time: those that hold slots are given up first.
const isOverdue = ({ isThread, isStarted, ticks }: Call, maxTicks: number): boolean =>
  !isThread && ticks > (isStarted ? maxTicks : 2 * maxTicks)

function createListeners<A extends unknown[]>() {
  const listeners = new Set<(...values: A) => void>()
  return {
    notify(...values: A) {
      for (const listener of listeners) listener(...values)
    },
    listen(listener: (...values: A) => void): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
}

/** Resolves when the folder responds, even with an error. */
async function runProbe(mount: Mount, probe: Probe) {
  const state = { ticks: 0, isStarted: false }
  mount.probe = state
  mount.probes += 1
  // Calls get threads in order, so this one ends after the probe has got its thread.
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

// Network file systems answer `stat` from cache for a while, but contact the server when a folder is opened.
async function readFolder(root: Buffer) {
  await stat(root)
  const folder = await opendir(root, { bufferSize: 1 })
  await folder.read()
  await folder.close()
}

/** Health of the libraries, as seen by this process. */
export const mountHealth = createMountHealth()
/** Health of folders named in requests and arguments, which need not be libraries. */
export const folderHealth = createMountHealth()

/** Health of cache folders. */
export const cacheHealth = createMountHealth()

/** Health of the folder of backups, whose disk may have to spin up: it has a minute. */
export const backupHealth = createMountHealth({ slowMs: 10_000, hungTicks: 120 })

/** Whether threads may be blocked forever: then the process must not wait for them to end. */
export const hasBlockedThreads = (): boolean =>
  [mountHealth, folderHealth, cacheHealth, backupHealth].some(health => health.hasHung())

/** The key of a library folder. */
export const mountKey = (root: Uint8Array): string => Buffer.from(root).toString('latin1')

/** The folder of a file, for a call's `folder` option. */
export const folderOf = (path: Uint8Array): string => parentPath(mountKey(path))
