// Sort orders of all books, loaded as document numbers in order.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../accounts/viewer.ts'
import { listVersion, listVersions, type Versions } from '../../list-version.ts'
import type { BookColumnSort } from '../../sort.ts'
import { forEachOrdinal } from '../id-table.ts'
import type { LoadedOrder } from '../index-schema.ts'
import type { SortOrder } from '../sort-order.ts'
import type { BookSegment } from './book-segment.ts'
import { orderChunks } from './order-chunks.ts'

const chunkRows = 65_536

/** In ascending order, four bytes for each book of the segment. All chunks are of one version. */
export async function loadColumnOrder(
  sql: Sql,
  segment: BookSegment,
  sort: BookColumnSort,
): Promise<LoadedOrder> {
  const rows = new Uint32Array(segment.maxDoc)
  let [count, valued] = [0, 0]
  let { version } = segment
  const walk = { sort, direction: 'asc', reversed: false, rows: chunkRows } as const
  await sql.begin(async tx => {
    await tx`set transaction isolation level repeatable read, read only`
    for await (const chunk of orderChunks(tx as unknown as Sql, segment, walk)) {
      rows.set(chunk.books, count)
      version = chunk.version
      count += chunk.books.length
      if (chunk.isValued) valued = count
    }
  })
  return { versions: { rows: version }, docs: rows.slice(0, count), valued }
}

const cursorRows = 4

/** By path, which no index has: all books are sorted. */
export async function loadPathOrder(sql: Sql, segment: BookSegment): Promise<LoadedOrder> {
  const rows = new Uint32Array(segment.maxDoc)
  let count = 0
  let { version } = segment
  // Each read from the index of locations.
  const books = (isListed: Fragment) => sql`
    select b.id, b.directory_id, b.name from book b where ${isListed}`
  const chunks = sql<{ version: string; ids: Buffer }[]>`
    select ${listVersion(sql)} as version, string_agg(uuid_send(p.id), ''::bytea order by place) as ids
    from (
      select b.id, row_number() over (order by d.path || '/'::bytea || b.name, b.id) - 1 as place
      from (${books(presentBook(sql))} union all ${books(sql`b.missing_at is not null`)}) b
      join directory d on d.id = b.directory_id) p
    group by p.place / ${chunkRows}::bigint order by min(p.place)`
  for await (const some of chunks.cursor(cursorRows))
    for (const row of some) {
      version = row.version
      await forEachOrdinal(segment.ids, row.ids, book => {
        rows[count++] = book
      })
    }
  return { versions: { rows: version }, docs: rows.slice(0, count), valued: count }
}

/** The books that the account has progress of, by time. */
export async function loadProgressOrder(
  sql: Sql,
  viewer: Viewer,
  segment: BookSegment,
): Promise<LoadedOrder> {
  const [row] = await sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'book')} as versions,
      string_agg(uuid_send(p.book_id), ''::bytea order by p.updated_at, p.book_id) as ids
    from progress p where p.account_id = ${viewer.accountId}`
  const ids = row!.ids ?? Buffer.alloc(0)
  return { versions: row!.versions, ...(await rowsInOrder(segment, ids)) }
}

/** An order of other rows than those of books, with the numbers that these have in the segment. */
export async function renumber(
  segment: BookSegment,
  { ids }: SortOrder,
): Promise<LoadedOrder | null> {
  return ids ? { versions: { rows: segment.version }, ...(await rowsInOrder(segment, ids)) } : null
}

async function rowsInOrder({ ids: books }: BookSegment, ids: Buffer): Promise<SortOrder> {
  const found: number[] = []
  await forEachOrdinal(books, ids, book => {
    found.push(book)
  })
  return { docs: Uint32Array.from(found), valued: found.length, ids }
}
