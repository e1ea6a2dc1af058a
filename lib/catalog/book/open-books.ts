// Cache of book records for page requests, valid for a second: reading apps request the pages of a book in quick
// succession.
import { LRUCache } from 'lru-cache'
import { serverViewer, type Viewer } from '../../accounts/viewer.ts'
import { createBatchLoader } from '../../base/async/batch-loader.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import { NotFound } from '../../base/errors.ts'
import { connectionsLike, type Sql } from '../../store/postgres/db.ts'
import { type OpenBook, readOpenBooks } from './book-file.ts'

export type OpenBooks = Awaited<ReturnType<typeof connectOpenBooks>>

const validMs = 1_000
const maxBytes = 8 * 1024 * 1024
const recordBytes = 2_000
const maxConnections = 2
// A lookup takes milliseconds; the lookups of one account wait for each other.
const responseTimeoutMs = 10_000

/** Resolves when its database connection is open. */
export async function connectOpenBooks(sql: Sql) {
  // Otherwise PostgreSQL plans each of the first five executions on a connection, which takes longer than the rest of
  // a page request.
  const connection = { plan_cache_mode: 'force_generic_plan' }
  const lookups = connectionsLike(sql, { max: maxConnections, connection, responseTimeoutMs })
  const books = new LRUCache<string, OpenBook>({
    ttl: validMs,
    ttlAutopurge: true,
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 8,
    sizeCalculation: ({ pages }) => recordBytes + (pages?.length ?? 0),
  })
  // An account whose permissions change gets a new viewer.
  const numbers = new WeakMap<Viewer, number>()
  let viewers = 0
  // Incremented by `forget`: results of reads that began earlier may be outdated.
  let generation = 0
  const flight = createSingleFlight<OpenBook>()
  // So that many pages requested at once do not wait for as many database connections.
  const read = createBatchLoader<Sql, Viewer, OpenBook>(readOpenBooks)

  function keyOf(viewer: Viewer, id: string): string {
    const number = numbers.get(viewer) ?? ++viewers
    numbers.set(viewer, number)
    return `${generation} ${number} ${id}`
  }

  await readOpenBooks(lookups, serverViewer, [])
  return {
    /** The book as it is now, or was up to a second ago if a job or another process has changed it. Throws NotFound. */
    async find(viewer: Viewer, id: string): Promise<OpenBook> {
      const key = keyOf(viewer, id)
      const known = books.get(key)
      if (known) return known
      return await flight(key, async () => {
        const book = await read(lookups, viewer, id.toLowerCase())
        if (!book) throw new NotFound('Book not found')
        books.set(key, book)
        return book
      })
    },
    /** Must be called after every request that may change something. */
    forget() {
      generation += 1
      books.clear()
    },
    close: () => lookups.end({ timeout: 5 }),
  }
}
