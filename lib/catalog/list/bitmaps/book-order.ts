// Sort orders of all books as the numbers of the books in order.
import { setImmediate } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { listVersion, listVersions, type Versions } from '../marks/list-version.ts'
import { placedBooks } from '../marks/read-marks.ts'
import type { BookColumnSort, Direction } from '../sort.ts'
import type { BookTable } from './book-table.ts'
import { forEachPlace } from './id-table.ts'
import type { ReadOrder } from './row-kind.ts'
import type { RowOrder } from './row-order.ts'

const chunkRows = 4_096
const cursorRows = 8
const sliceSeries = 500

/** In ascending order. Four bytes for each book of the table. */
export async function readColumnOrder(
  sql: Sql,
  table: BookTable,
  sort: BookColumnSort,
): Promise<ReadOrder> {
  const books = new Uint32Array(table.rowCount)
  let [count, valued, version] = [0, 0, '']
  const parts = sql<{ version: string; part: number; ids: Buffer }[]>`
    select ${listVersion(sql)} as version, part, place / ${chunkRows}::bigint as chunk,
      string_agg(uuid_send(p.id), ''::bytea order by place) as ids
    from (${placedBooks(sql, { sort, direction: 'asc' })}) p
    group by part, chunk order by part, chunk`
  for await (const some of parts.cursor(cursorRows))
    for (const row of some) {
      version = row.version
      await forEachPlace(table.rows, row.ids, book => {
        books[count++] = book
      })
      if (row.part === 0) valued = count
    }
  return { versions: { rows: version }, rows: books, valued }
}

/**
 * By series title, then by number; for one direction, because books without a number are the last of their
 * series in both.
 */
export async function readSeriesOrder(
  sql: Sql,
  table: BookTable,
  { direction, byTitle }: { direction: Direction; byTitle: RowOrder },
): Promise<ReadOrder> {
  const numbers = new Float64Array(table.rowCount).fill(Number.NaN)
  let version = table.version
  const rows = sql<{ version: string; ids: Buffer; numbers: Buffer }[]>`
    select ${listVersion(sql)} as version, string_agg(uuid_send(b.id), ''::bytea) as ids,
      string_agg(float8send(b.number_sort), ''::bytea) as numbers
    from book b where b.number_sort is not null
    group by get_byte(uuid_send(b.id), 15)`
  for await (const some of rows.cursor(cursorRows))
    for (const row of some) {
      version = row.version
      await forEachPlace(table.rows, row.ids, (book, i) => {
        numbers[book] = row.numbers.readDoubleBE(i * 8)
      })
    }
  const rank = new Uint32Array(table.rowCount)
  byTitle.rows.forEach((book, i) => {
    rank[book] = i
  })
  const sign = direction === 'desc' ? -1 : 1
  const compare = (a: number, b: number) => {
    const [x, y] = [numbers[a]!, numbers[b]!]
    const [hasNone, hasOne] = [Number.isNaN(x), !Number.isNaN(y)]
    if (hasNone === hasOne) return hasNone ? 1 : -1
    return sign * (hasNone || x === y ? rank[a]! - rank[b]! : x - y)
  }
  const { firstBook, ownBooks, seriesOfMissing, presentCount } = table
  const missing = new Map<number, number[]>()
  seriesOfMissing.forEach((series, i) => {
    const some = missing.get(series)
    if (some) some.push(presentCount + i)
    else missing.set(series, [presentCount + i])
  })
  const books = new Uint32Array(table.rowCount)
  let count = 0
  for (let place = 0; place < firstBook.length; place++) {
    // Other requests are served between some milliseconds of sorting.
    if (place % sliceSeries === sliceSeries - 1) await setImmediate()
    const series = sign > 0 ? place : firstBook.length - 1 - place
    const start = count
    for (let i = 0; i < ownBooks[series]!; i++) books[count++] = firstBook[series]! + i
    for (const book of missing.get(series) ?? []) books[count++] = book
    books.subarray(start, count).sort(compare)
  }
  return { versions: { rows: version }, rows: books, valued: count }
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
