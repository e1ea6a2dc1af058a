// Sort orders of all books as the numbers of the books in order.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { listVersions, type Versions } from '../marks/list-version.ts'
import type { BookColumnSort } from '../sort.ts'
import type { BookTable } from './book-table.ts'
import { forEachPlace } from './id-table.ts'
import { orderChunks } from './order-chunks.ts'
import type { ReadOrder } from './row-kind.ts'

const chunkRows = 65_536

/** In ascending order. Four bytes for each book of the table. */
export async function readColumnOrder(
  sql: Sql,
  table: BookTable,
  sort: BookColumnSort,
): Promise<ReadOrder> {
  const rows = new Uint32Array(table.rowCount)
  let [count, valued] = [0, 0]
  const walk = { sort, direction: 'asc', reversed: false, rows: chunkRows } as const
  for await (const { books, isValued, version } of orderChunks(sql, table, walk)) {
    if (version !== table.version) return { versions: { rows: version }, rows, valued }
    rows.set(books, count)
    count += books.length
    if (isValued) valued = count
  }
  return { versions: { rows: table.version }, rows, valued }
}

/** The books that the account has progress of, by time. */
export async function readProgressOrder(
  sql: Sql,
  viewer: Viewer,
  table: BookTable,
): Promise<ReadOrder> {
  const [row] = await sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'book')} as versions,
      string_agg(uuid_send(p.book_id), ''::bytea order by p.updated_at, p.book_id) as ids
    from progress p where p.account_id = ${viewer.accountId}`
  const found: number[] = []
  await forEachPlace(table.rows, row!.ids, book => {
    found.push(book)
  })
  return { versions: row!.versions, rows: Uint32Array.from(found), valued: found.length }
}
