// Watches the folders of libraries that ask for it, and scans what changes in them: each library in one
// of the processes that work.
import type { Sql } from 'postgres'
import type { Log } from '../../lib/log.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import { claim, type Lease, release, renew, say, type Wanted, wantedLibraries } from './lease.ts'
import { type LibraryWatch, type WatchDeps, watchLibrary } from './library-watch.ts'
import { type FolderWatch, openFolderWatch } from './watch-folders.ts'

type Watched = { library: Wanted; lease: Lease; watch: LibraryWatch }

type Options = {
  sql: Sql
  queue: Queue
  log: Log
  /** Rings for the lanes of this process. */
  wake: () => void
  folders?: FolderWatch
}

const everyMs = 10_000

/** Follows the libraries and their settings until it is closed. */
export async function startWatching({ folders = openFolderWatch(), ...given }: Options) {
  const deps: WatchDeps = { ...given, folders }
  const { sql, log } = deps
  const watched = new Map<string, Watched>()
  const endings = new Set<Promise<void>>()
  let closed = false
  // Leases change one after the other: a renewal that knows an old one would take it for lost.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }

  async function follow() {
    const wanted = new Map((await wantedLibraries(sql)).map(library => [library.id, library]))
    const held = await renew(sql, leases())
    const left: Lease[] = []
    for (const [id, { library, lease }] of watched) {
      if (held.has(id) && isSame(library, wanted.get(id))) continue
      left.push(lease)
      end(id)
    }
    await release(sql, left)
    const free = [...wanted.keys()].filter(id => !watched.has(id))
    for (const lease of await claim(sql, free)) begin(wanted.get(lease.libraryId)!, lease)
  }

  function begin(library: Wanted, lease: Lease) {
    const watch = watchLibrary(deps, library, state =>
      inTurn(async () => {
        const mine = watched.get(library.id)
        if (mine?.watch !== watch) return
        const now = await say(sql, mine.lease, state)
        if (now) mine.lease = now
        else end(library.id)
      }),
    )
    watched.set(library.id, { library, lease, watch })
  }

  // Its end is not waited for here, because it may wait for its turn.
  function end(id: string) {
    const ending = watched
      .get(id)!
      .watch.close()
      .finally(() => endings.delete(ending))
    endings.add(ending)
    watched.delete(id)
  }

  function leases() {
    return [...watched.values()].map(({ lease }) => lease)
  }

  function soon() {
    inTurn(async () => {
      if (!closed) await follow()
    }).catch(error => log.warn({ err: error }, 'libraries to watch could not be looked up'))
  }

  const timer = setInterval(soon, everyMs)
  const listening = await sql.listen('schedule', soon, soon)
  return {
    async close() {
      closed = true
      clearInterval(timer)
      await listening.unlisten()
      await turn
      const given = leases()
      for (const id of [...watched.keys()]) end(id)
      await Promise.all(endings)
      await turn
      await release(sql, given).catch(() => {})
      await folders.close()
    },
  }
}

function isSame(now: Wanted, wanted: Wanted | undefined) {
  return wanted !== undefined && wanted.wish === now.wish && wanted.root.equals(now.root)
}
