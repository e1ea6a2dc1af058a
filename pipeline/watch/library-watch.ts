// Watches one library: hears what changes, waits until it is written, and asks for a scan of it. Where
// nothing can be heard, it asks for scans of the whole library again and again.
import { type Bell, openBell } from '../../lib/async/wakeup.ts'
import type { Log } from '../../lib/log.ts'
import { extensionOf } from '../../lib/path.ts'
import { readSetting } from '../../lib/setting/setting.ts'
import { defaultExtensions } from '../scan/discover.ts'
import { isSidecar } from '../scan/disk.ts'
import { type Changes, isEmpty, look, noChanges, noteChanges } from './changes.ts'
import { failure, identity, obstacle } from './filesystem-type.ts'
import type { Mode, Wanted } from './lease.ts'
import { type AskDeps, asker, askForScan, isScanned } from './scan-scheduler.ts'
import type { FolderWatch } from './watch-folders.ts'

export type WatchDeps = AskDeps & { log: Log; folders: Pick<FolderWatch, 'watch'> }

type Say = (state: { mode: Mode; message: string | null }) => Promise<void>

type Watch = {
  deps: WatchDeps
  library: Wanted
  say: Say
  bell: Bell
  isClosed: () => boolean
}

const tickMs = 250
const busyMs = 500
// How often it is asked whether the folder is still the one that is watched.
const groundMs = 10_000
// A kernel that refused watches may have room again.
const againMs = 600_000

export type LibraryWatch = ReturnType<typeof watchLibrary>

/** Begins; `close` resolves when nothing runs any more. */
export function watchLibrary(deps: WatchDeps, library: Wanted, say: Say) {
  let closed = false
  const bell = openBell()
  const running = run({ deps, library, say, bell, isClosed: () => closed })
  return {
    async close() {
      closed = true
      bell.ring()
      await running
    },
  }
}

async function run(watch: Watch) {
  const { deps, library, bell, isClosed } = watch
  // Whoever began it knows it before it says anything.
  await Promise.resolve()
  while (!isClosed()) {
    try {
      const message = library.wish === 'on' ? await listen(watch) : null
      if (!isClosed() && (library.wish === 'poll' || message)) await poll(watch, message)
    } catch (error) {
      if (isClosed()) return
      deps.log.warn({ err: error, libraryId: library.id }, 'watching a library was interrupted')
      await bell.heard(groundMs)
    }
  }
}

/** Watches until that is over; answers why, or null when it may be tried again at once. */
async function listen(watch: Watch): Promise<string | null> {
  const { root } = watch.library
  const against = await obstacle(root)
  if (against) return against
  const changes = noChanges()
  // What changed while nobody listened.
  noteChanges(changes, [''], 0)
  const place = await identity(root)
  let ended: string | null = null
  const hearing = {
    changed(paths: string[], flooded: boolean) {
      noteChanges(changes, flooded ? [''] : paths)
      watch.bell.ring()
    },
    failed(code: string) {
      ended = failure(code)
      watch.bell.ring()
    },
  }
  const stop = await watch.deps.folders.watch(root, hearing).catch(error => {
    ended = failure(error.code)
    return null
  })
  if (stop === null) return ended
  try {
    await watch.say({ mode: 'watching', message: null })
    let checkedAt = Date.now()
    await hear(watch, changes, async () => {
      if (ended !== null || Date.now() - checkedAt < groundMs) return ended === null
      checkedAt = Date.now()
      return (await identity(root)) === place
    })
    return ended
  } finally {
    stop()
  }
}

async function hear(watch: Watch, changes: Changes, goesOn: () => Promise<boolean>) {
  const { deps, library, bell } = watch
  const ask = asker(deps, library.id)
  while (!watch.isClosed() && (await goesOn())) {
    await look(changes, library.root, matters)
    const isBusy = await ask(changes)
    if (watch.isClosed()) return
    await bell.heard(isBusy ? busyMs : isEmpty(changes) ? groundMs : tickMs)
  }
}

/** Files that are books, or say something of books. */
function matters(path: string) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return defaultExtensions.includes(extensionOf(name)) || isSidecar(name)
}

/** Scans the whole library from time to time; ends when watching may be tried again. */
async function poll(watch: Watch, message: string | null) {
  const { deps, library, bell, isClosed } = watch
  await watch.say({ mode: 'polling', message })
  if (message)
    deps.log.warn({ libraryId: library.id, reason: message }, 'library is polled, not watched')
  const began = Date.now()
  let polledAt = 0
  let wasAway = false
  while (!isClosed()) {
    const isAway = (await identity(library.root)) === null
    if (message && ((wasAway && !isAway) || Date.now() - began > againMs)) return
    wasAway = isAway
    const everyMs = (await readSetting(deps.sql, 'watch.poll_seconds')) * 1000
    const isTime = Date.now() - polledAt >= everyMs
    if (isTime && !isAway && !(await isScanned(deps.sql, library.id))) {
      polledAt = Date.now()
      await askForScan(deps, library.id, [''])
    }
    if (isClosed()) return
    await bell.heard(Math.min(everyMs, groundMs))
  }
}
