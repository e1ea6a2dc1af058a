// Sort orders of all books as the numbers of the books in order, and pages of a bitmap in such an order.
import { setImmediate } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { accountVersion, listVersion } from '../marks/list-version.ts'
import { placedBooks } from '../marks/read-marks.ts'
import { nearestEnd, type PageWindow } from '../page.ts'
import type { BookColumnSort, Direction } from '../sort.ts'
import { add, type Bitmap, emptyBitmap, has } from './bitmap.ts'
import type { BookTable } from './book-table.ts'
import { forEachPlace } from './id-table.ts'

/** Books without a value of the column are last in both directions. */
export type BookOrder = {
  version: string
  books: Uint32Array<ArrayBuffer>
  /** How many have a value. */
  valued: number
}

const chunkRows = 4_096
const cursorRows = 8
const sliceSeries = 500

/** In ascending order. Four bytes for each book of the table. */
export async function readColumnOrder(
  sql: Sql,
  table: BookTable,
  sort: BookColumnSort,
): Promise<BookOrder> {
  const books = new Uint32Array(table.bookCount)
  let [count, valued, version] = [0, 0, '']
  const rows = sql<{ version: string; part: number; ids: Buffer }[]>`
    select ${listVersion(sql)} as version, part, place / ${chunkRows}::bigint as chunk,
      string_agg(uuid_send(p.id), ''::bytea order by place) as ids
    from (${placedBooks(sql, { sort, direction: 'asc' })}) p
    group by part, chunk order by part, chunk`
  for await (const some of rows.cursor(cursorRows))
    for (const row of some) {
      version = row.version
      await forEachPlace(table.books, row.ids, book => {
        books[count++] = book
      })
      if (row.part === 0) valued = count
    }
  return { version, books, valued }
}

/**
 * By series title, then by number; for one direction, because books without a number are the last of their
 * series in both.
 */
export async function readSeriesOrder(
  sql: Sql,
  table: BookTable,
  { direction, byTitle }: { direction: Direction; byTitle: BookOrder },
): Promise<BookOrder> {
  const numbers = new Float64Array(table.bookCount).fill(Number.NaN)
  let version = ''
  const rows = sql<{ version: string; ids: Buffer; numbers: Buffer }[]>`
    select ${listVersion(sql)} as version, string_agg(uuid_send(b.id), ''::bytea) as ids,
      string_agg(float8send(b.number_sort), ''::bytea) as numbers
    from book b where b.number_sort is not null
    group by get_byte(uuid_send(b.id), 15)`
  for await (const some of rows.cursor(cursorRows))
    for (const row of some) {
      version = row.version
      await forEachPlace(table.books, row.ids, (book, i) => {
        numbers[book] = row.numbers.readDoubleBE(i * 8)
      })
    }
  const rank = new Uint32Array(table.bookCount)
  byTitle.books.forEach((book, i) => {
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
  const books = new Uint32Array(table.bookCount)
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
  return { version: version || byTitle.version, books, valued: count }
}

/** The books that the account has progress of, by time. */
export async function readProgressOrder(
  sql: Sql,
  viewer: Viewer,
  table: BookTable,
): Promise<BookOrder> {
  const [row] = await sql<{ version: string; ids: Buffer | null }[]>`
    select ${accountVersion(sql, viewer)} as version,
      string_agg(uuid_send(p.book_id), ''::bytea order by p.updated_at, p.book_id) as ids
    from progress p where p.account_id = ${viewer.accountId}`
  const found: number[] = []
  await forEachPlace(table.books, row!.ids, book => {
    found.push(book)
  })
  return { version: row!.version, books: Uint32Array.from(found), valued: found.length }
}

/** Books of `order` from `start` to before `end`, or the other way round; without those of `except`. */
type Run = { books: Uint32Array; start: number; end: number; isReversed: boolean; except?: Bitmap }

export function runsOf({ books, valued }: BookOrder, direction: Direction): Run[] {
  const isReversed = direction === 'desc'
  return [
    { books, start: 0, end: valued, isReversed },
    { books, start: valued, end: books.length, isReversed },
  ]
}

/** Books with progress by time, then all others by title. */
export function runsByReading(
  table: BookTable,
  { read, byTitle }: { read: BookOrder; byTitle: BookOrder },
  direction: Direction,
): Run[] {
  const except = emptyBitmap(table.bookCount)
  for (const book of read.books) add(except, book)
  return [...runsOf(read, direction), ...runsOf(byTitle, 'asc').map(run => ({ ...run, except }))]
}

/** The books of a page of the bitmap, which has `total`. */
export function pageOfRuns(runs: Run[], bitmap: Bitmap, window: PageWindow): number[] {
  const { skip, take, reversed } = nearestEnd(window)
  const page: number[] = []
  if (take === 0) return page
  let skipped = 0
  for (const run of reversed ? runs.toReversed() : runs) {
    const { books, start, end, except } = run
    const step = run.isReversed !== reversed ? -1 : 1
    for (let i = step > 0 ? start : end - 1; i >= start && i < end; i += step) {
      const book = books[i]!
      if (!has(bitmap, book) || (except && has(except, book))) continue
      if (skipped < skip) skipped++
      else if (page.push(book) === take) return reversed ? page.reverse() : page
    }
  }
  return reversed ? page.reverse() : page
}
