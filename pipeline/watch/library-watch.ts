// Watch of one library: collects changes, waits until they are completely written, and requests scans for
// them. Where changes are not reported, the whole library is scanned at intervals.
import { createWakeup, type Wakeup } from '../../lib/base/async/wakeup.ts'
import { NotResponding, Unavailable } from '../../lib/base/errors.ts'
import type { Log } from '../../lib/base/log.ts'
import { extensionOf } from '../../lib/base/path.ts'
import { isImageName } from '../../lib/media/name/artwork.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import { fetchSetting } from '../../lib/store/setting/setting.ts'
import { defaultExtensions } from '../scan/discover.ts'
import { isMetadataSidecar } from '../scan/disk.ts'
import { addChanges, type Changes, checkPaths, createChanges, isEmpty } from './changes.ts'
import { folderIdentity, unwatchableReason, watchErrorMessage } from './filesystem-type.ts'
import {
  createScanScheduler,
  isScanActive,
  requestWatchScan,
  type ScanSchedulerDeps,
} from './scan-scheduler.ts'
import type { LibraryToWatch, WatchState } from './watch-claim.ts'
import type { FolderWatch } from './watch-folders.ts'

export type WatchDeps = ScanSchedulerDeps & {
  log: Log
  folders: Pick<FolderWatch, 'watch'>
  /** How often to check that the folder is still the watched one. */
  checkMs: number
}

/** Why a library is not watched, as a message for users; `isAway` if its folder did not exist. */
type WatchEnd = { message: string; isAway: boolean }

type StoreState = (state: WatchState) => Promise<void>

type Watch = {
  deps: WatchDeps
  library: LibraryToWatch
  storeState: StoreState
  wakeup: Wakeup
  /** Aborts when the watch is closed. */
  signal: AbortSignal
  isClosed: () => boolean
}

const tickMs = 250
const busyMs = 500
const hungCheckMs = 1_000
// The kernel may allow more watches after a while.
const retryWatchMs = 600_000

export type LibraryWatch = ReturnType<typeof watchLibrary>

/** Starts watching; `close` resolves once nothing is running any more. */
export function watchLibrary(deps: WatchDeps, library: LibraryToWatch, storeState: StoreState) {
  const closing = new AbortController()
  const { signal } = closing
  const wakeup = createWakeup()
  const isClosed = () => signal.aborted
  const running = run({ deps, library, storeState, wakeup, signal, isClosed })
  return {
    async close() {
      closing.abort()
      wakeup.notify()
      await running
    },
  }
}

async function run(watch: Watch) {
  const { deps, library, wakeup, isClosed } = watch
  // The caller registers the watch before it stores its first state.
  await Promise.resolve()
  while (!isClosed()) {
    try {
      const end = library.requestedMode === 'on' ? await watchChanges(watch) : null
      if (!isClosed() && (library.requestedMode === 'poll' || end)) await poll(watch, end)
    } catch (error) {
      if (isClosed()) return
      if (error instanceof NotResponding) {
        await waitUntilResponding(watch).catch(() => {})
        continue
      }
      deps.log.warn({ err: error, libraryId: library.id }, 'watching a library was interrupted')
      await wakeup.wait(deps.checkMs)
    }
  }
}

/** Inspects the library folder. Throws NotResponding, and Unavailable once the watch is closed. */
function onDisk<T>({ library, signal }: Watch, look: (root: Buffer) => Promise<T>): Promise<T> {
  return mountHealth.run(mountKey(library.root), () => look(library.root), { signal })
}

async function waitUntilResponding(watch: Watch) {
  await watch.storeState({ mode: 'polling', message: 'The library folder does not respond' })
  do await watch.wakeup.wait(hungCheckMs)
  while (!watch.isClosed() && mountHealth.isHung(mountKey(watch.library.root)))
}

/** Returns when watching has ended; null if it can be retried right away. */
async function watchChanges(watch: Watch): Promise<WatchEnd | null> {
  const { root } = watch.library
  const reason = await onDisk(watch, unwatchableReason)
  if (reason) return { message: reason, isAway: false }
  const changes = createChanges()
  // Anything may have changed before the watch started.
  addChanges(changes, [''], 0)
  const identity = await onDisk(watch, folderIdentity)
  let error: WatchEnd | null = null
  const fail = (code: string) => {
    error = { message: watchErrorMessage(code), isAway: code === 'ENOENT' || code === 'ENOTDIR' }
    return null
  }
  const listener = {
    onChanged(paths: string[], mayBeIncomplete: boolean) {
      addChanges(changes, mayBeIncomplete ? [''] : paths)
      watch.wakeup.notify()
    },
    onFailed(code: string) {
      fail(code)
      watch.wakeup.notify()
    },
  }
  const stop = await mountHealth
    .runThread(mountKey(root), () => watch.deps.folders.watch(root, listener), {
      signal: watch.signal,
      discard: stop => stop(),
    })
    .catch(cause => {
      if (cause instanceof Unavailable) throw cause
      return fail(cause.code)
    })
  if (stop === null) return error
  try {
    await watch.storeState({ mode: 'watching', message: null })
    let checkedAt = Date.now()
    await processChanges(watch, changes, async () => {
      if (error !== null || Date.now() - checkedAt < watch.deps.checkMs) return error === null
      checkedAt = Date.now()
      return (await onDisk(watch, folderIdentity)) === identity
    })
    return error
  } finally {
    stop()
  }
}

async function processChanges(watch: Watch, changes: Changes, isValid: () => Promise<boolean>) {
  const { deps, library, wakeup } = watch
  const schedule = createScanScheduler(deps, library.id)
  while (!watch.isClosed() && (await isValid())) {
    await checkPaths(changes, library.root, isRelevant)
    const isWaiting = await schedule(changes)
    if (watch.isClosed()) return
    await wakeup.wait(isWaiting ? busyMs : isEmpty(changes) ? deps.checkMs : tickMs)
  }
}

/** True for books and their sidecars; any image may be the cover of a book. */
function isRelevant(path: string) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    defaultExtensions.includes(extensionOf(name)) || isMetadataSidecar(name) || isImageName(name)
  )
}

/** Scans the whole library at intervals; returns when watching can be tried again. */
async function poll(watch: Watch, end: WatchEnd | null) {
  const { deps, library, wakeup, isClosed } = watch
  const message = end?.message ?? null
  await watch.storeState({ mode: 'polling', message })
  const lineOf = { libraryId: library.id, ...(message ? { reason: message } : {}) }
  let isLoggedAway = false
  const startedAt = Date.now()
  let polledAt = 0
  // The folder may be back before it is first checked.
  let wasAway = end?.isAway ?? false
  let isFirst = true
  while (!isClosed()) {
    const isAway = (await onDisk(watch, folderIdentity)) === null
    if (isAway && !isLoggedAway) deps.log.warn(lineOf, 'library folder is gone')
    else if (!isAway && isLoggedAway) deps.log.info(lineOf, 'library folder is back')
    else if (isFirst && message) deps.log.warn(lineOf, 'library is polled, not watched')
    isLoggedAway = isAway
    isFirst = false
    if (message && ((wasAway && !isAway) || Date.now() - startedAt > retryWatchMs)) return
    wasAway = isAway
    const intervalMs = (await fetchSetting(deps.sql, 'watch.poll_seconds')) * 1000
    const isTime = Date.now() - polledAt >= intervalMs
    if (isTime && !isAway && !(await isScanActive(deps.sql, library.id))) {
      polledAt = Date.now()
      await requestWatchScan(deps, library.id, [''])
    }
    if (isClosed()) return
    await wakeup.wait(Math.min(intervalMs, deps.checkMs))
  }
}
