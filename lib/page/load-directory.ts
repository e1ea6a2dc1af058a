// Loads page directories: from memory, from the catalog, or else from the file with a thread.
import { deliveryCounters } from '../download/counters.ts'
import { createDirectory, type PageDirectory } from './directory.ts'
import { type BookSnapshot, bookRefOf, type Engine, flightKey } from './engine.ts'
import { failureKey, pagesKey } from './etag.ts'
import type { FileChanged } from './messages.ts'
import { unpackPageList } from './page-list.ts'
import type { Client } from './pool.ts'

/** The page directory of a book. Throws NotFound, Unreadable, Unavailable. */
export async function loadDirectory(
  engine: Engine,
  book: BookSnapshot,
  client: Client = {},
): Promise<PageDirectory | FileChanged> {
  const key = pagesKey(book)
  const cached = engine.directories.get(key)
  if (cached && !cached.isStale) return cached
  const load = async (signal: AbortSignal) => {
    deliveryCounters.directories += 1
    const request = bookRefOf(engine, book)
    const runThread = () =>
      engine.pool.run('directory', request, {
        weight: 1,
        client: { ...client, signal },
        failureKey: failureKey(book, 'directory'),
      })
    const stored = cached ? null : catalogedDirectory(book)
    const result = stored ?? (await runThread())
    if ('rows' in result) engine.directories.set(key, result)
    return result
  }
  return engine.directoryLoads(flightKey(key, client), load, client.signal)
}

// Unpacking a list of a few hundred pages takes this thread a fraction of a millisecond.
const maxPackedBytes = 32 * 1024

/** The directory as stored by the scan; null for a book that a thread must read. */
function catalogedDirectory({ isCataloged, pages }: BookSnapshot): PageDirectory | null {
  if (!isCataloged || pages === null || pages.length > maxPackedBytes) return null
  const { pages: stored, changedMs } = unpackPageList(pages)
  return changedMs === null ? null : createDirectory(stored, { isCataloged: true, changedMs })
}
