// Watches all libraries configured for it: each in one of the processes, using claims.
import type { Log } from '../../lib/base/log.ts'
import { isConnectionLost } from '../../lib/store/postgres/connection-error.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { type LibraryWatch, type WatchDeps, watchLibrary } from './library-watch.ts'
import {
  claimLibraries,
  type LibraryToWatch,
  librariesToWatch,
  releaseClaims,
  renewClaims,
  storeWatchState,
  type WatchClaim,
} from './watch-claim.ts'
import { type FolderWatch, openFolderWatch } from './watch-folders.ts'

type WatchedLibrary = { library: LibraryToWatch; claim: WatchClaim; watch: LibraryWatch }

type Options = {
  sql: Sql
  queue: Queue
  log: Log
  /** Wakes the workers of this process. */
  wake: () => void
  folders?: FolderWatch
  /** How often claims are renewed and folders are checked. */
  checkMs?: number
}

const defaultCheckMs = 10_000

/** Follows the configuration of the libraries until closed. */
export async function startWatching({
  folders = openFolderWatch(),
  checkMs = defaultCheckMs,
  ...options
}: Options) {
  const deps: WatchDeps = { ...options, folders, checkMs }
  const { sql, log } = deps
  const watched = new Map<string, WatchedLibrary>()
  const closing = new Set<Promise<void>>()
  let isClosed = false
  // Claims are changed one at a time: a renewal with an outdated claim would consider it lost.
  let lastChange: Promise<unknown> = Promise.resolve()
  const serialize = <T>(work: () => Promise<T>): Promise<T> => {
    const result = lastChange.then(work)
    lastChange = result.catch(() => {})
    return result
  }

  async function update() {
    const libraries = new Map((await librariesToWatch(sql)).map(library => [library.id, library]))
    const held = await renewClaims(sql, claims())
    const ended: WatchClaim[] = []
    for (const [id, { library, claim }] of watched) {
      if (held.has(id) && isSame(library, libraries.get(id))) continue
      ended.push(claim)
      end(id)
    }
    await releaseClaims(sql, ended)
    const unwatched = [...libraries.keys()].filter(id => !watched.has(id))
    for (const claim of await claimLibraries(sql, unwatched))
      begin(libraries.get(claim.libraryId)!, claim)
  }

  function begin(library: LibraryToWatch, claim: WatchClaim) {
    const watch = watchLibrary(deps, library, state =>
      serialize(async () => {
        const current = watched.get(library.id)
        if (current?.watch !== watch) return
        const renewed = await storeWatchState(sql, current.claim, state)
        if (renewed) current.claim = renewed
        else end(library.id)
      }),
    )
    watched.set(library.id, { library, claim, watch })
  }

  // Not awaited here, because the watch may be waiting for `serialize`.
  function end(id: string) {
    const promise = watched
      .get(id)!
      .watch.close()
      .finally(() => closing.delete(promise))
    closing.add(promise)
    watched.delete(id)
  }

  function claims() {
    return [...watched.values()].map(({ claim }) => claim)
  }

  function scheduleUpdate() {
    serialize(async () => {
      if (!isClosed) await update()
    }).catch(error =>
      log[isConnectionLost(error) ? 'debug' : 'warn'](
        { err: error },
        'libraries to watch could not be read',
      ),
    )
  }

  const timer = setInterval(scheduleUpdate, checkMs)
  const listening = await sql.listen('schedule', scheduleUpdate, scheduleUpdate)
  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await listening.unlisten()
      await lastChange
      const held = claims()
      for (const id of [...watched.keys()]) end(id)
      await Promise.all(closing)
      await lastChange
      await releaseClaims(sql, held).catch(() => {})
      await folders.close()
    },
  }
}

function isSame(current: LibraryToWatch, configured: LibraryToWatch | undefined) {
  return (
    configured !== undefined &&
    configured.requestedMode === current.requestedMode &&
    configured.root.equals(current.root)
  )
}
