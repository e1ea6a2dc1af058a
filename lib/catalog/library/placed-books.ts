// Places the books of a library by a series strategy, from stored values: no file is opened.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { pathText } from '../../base/path.ts'
import type { Config } from '../../media/strategy/config.ts'
import type { Placement } from '../../media/strategy/placement.ts'
import { placeBook } from '../../media/strategy/series.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'

export type StoredBook = {
  id: string
  seriesId: string
  seriesTitle: string
  isPresent: boolean
  folder: Buffer
  name: Buffer
  embeddedSeries: string | null
}
export type PlacedBook = { book: StoredBook; placement: Placement }

const batch = 1_000
// A user's patterns can make a single book slow.
const maxBlockMs = 20

/** Batches of all books of a library, including missing ones. */
export async function* placeStoredBooks(
  sql: Sql | Transaction,
  { libraryId, strategy, config }: { libraryId: string; strategy: string; config: Config },
): AsyncGenerator<PlacedBook[]> {
  const rows = sql<StoredBook[]>`
    select b.id, b.series_id as "seriesId", s.title as "seriesTitle",
      b.missing_at is null as "isPresent", d.path as folder, b.name,
      b.embedded_series as "embeddedSeries"
    from book b join directory d on d.id = b.directory_id join series s on s.id = b.series_id
    where b.library_id = ${libraryId}`
  let since = performance.now()
  for await (const books of rows.cursor(batch)) {
    const placed: PlacedBook[] = []
    for (const book of books) {
      const path = [book.folder, book.name].filter(part => part.length > 0).map(pathText)
      const facts = { series: book.embeddedSeries }
      placed.push({ book, placement: placeBook(strategy, config, path.join('/'), facts) })
      if (performance.now() - since < maxBlockMs) continue
      await yieldToEventLoop()
      since = performance.now()
    }
    yield placed
  }
}
