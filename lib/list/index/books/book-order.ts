// Sort orders of books: loaded as document numbers in order, or read from the index of the database in chunks, from either end,
// for pages in an order that is not in memory: what a page needs is read, which is a part of the order.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../accounts/viewer.ts'
import type { Queryable } from '../../../store/postgres/db.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import type { Predicate } from '../../condition.ts'
import { listVersion, listVersions, type Versions } from '../../list-version.ts'
import {
  type BookColumnSort,
  bookOrderBy,
  bookSortColumns,
  type Direction,
  nearestEnd,
} from '../../sort.ts'
import { bookColumnTest } from '../../sql/book-fields.ts'
import { add, type Bitmap, emptyBitmap, has, membersOf, subtract } from '../bitmap.ts'
import { forEachOrdinal, idAt, idBytes, placesOf } from '../id-table.ts'
import type { Hits, LoadedOrder } from '../index-schema.ts'
import type { SortOrder } from '../sort-order.ts'
import type { BookSegment } from './book-segment.ts'

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
  const docs = Uint32Array.from(await placesOf(books, ids))
  return { docs, valued: docs.length, ids }
}

type Sorting = { sort: BookColumnSort; direction: Direction }
/** From its end if `reversed`. */
type Walk = Sorting & { reversed: boolean }

const firstRows = 4_096
const maxRows = 131_072
const growth = 4

type OrderChunk = {
  books: number[]
  /** Whether the rows have a value in the sort column. */
  isValued: boolean
  /** `listVersion`: the order consists of chunks of one version. */
  version: string
}

type ChunkRow = { version: string; ids: Buffer | null }

/** All books of the segment, present and missing. Begins with few, so that a first page costs little. */
export async function* orderChunks(
  sql: Sql,
  segment: BookSegment,
  walk: Walk & { rows?: number },
): AsyncGenerator<OrderChunk> {
  const { nullable } = bookSortColumns[walk.sort]
  const parts = nullable ? [true, false] : [true]
  let rows = walk.rows ?? firstRows
  for (const isValued of walk.reversed ? parts.toReversed() : parts) {
    let last: string | null = null
    for (;;) {
      const found: ChunkRow[] = await unprepared(sql<ChunkRow[]>`
        select ${listVersion(sql)} as version, (
          select string_agg(uuid_send(i.id), ''::bytea)
          from (${chunk(sql, segment, { ...walk, isValued, last, rows })}) i) as ids`)
      const { version, ids } = found[0]!
      yield { books: await placesOf(segment.ids, ids), isValued, version }
      if (!ids || ids.length < rows * idBytes) break
      last = ids.toString('hex', ids.length - idBytes)
      rows = Math.min(rows * growth, maxRows)
    }
  }
}

type ChunkOf = Walk & { isValued: boolean; last: string | null; rows: number }

function chunk(sql: Queryable, segment: BookSegment, of: ChunkOf): Fragment {
  const { isValued, last, rows, direction, reversed } = of
  const { column, nullable } = bookSortColumns[of.sort]
  const key = sql`b.${sql(column)}`
  const orderBy = bookOrderBy(sql, 'b', of)
  const sign = (direction === 'desc') !== reversed ? sql`<` : sql`>`
  const hasKey = nullable ? (isValued ? sql`${key} is not null` : sql`${key} is null`) : sql`true`
  const isLater = isValued
    ? sql`(${key}, b.id) ${sign} (
        select l.${sql(column)}, l.id from book l where l.id = ${last}::uuid)`
    : sql`b.id ${sign} ${last}::uuid`
  const books = (isListed: Fragment) => sql`
    select b.id, ${key} from book b
    where ${isListed} and ${hasKey} and ${last === null ? sql`true` : isLater}
    order by ${orderBy} limit ${rows}`
  if (!segment.hasMissing) return books(presentBook(sql))
  // Each in order, so that they are merged and not sorted.
  return sql`
    select b.id from (
      (${books(presentBook(sql))}) union all (${books(sql`b.missing_at is not null`)})) b
    order by ${orderBy} limit ${rows}`
}

// Sorting a book looks it up, which costs as much as walking so many.
const sortCost = 6
const maxSorted = 20_000

/** The books of a page of the bitmap, which has `total`. Null if the catalog has another version than the segment. */
export async function pageOfChunks(
  sql: Sql,
  segment: BookSegment,
  { bitmap, window, ...sorting }: Sorting & Hits,
): Promise<number[] | null> {
  const { skip, take, reversed } = nearestEnd(window)
  if (take === 0) return []
  const walk = { ...sorting, reversed }
  const walkedRows = ((skip + take) * segment.maxDoc) / window.total
  if (window.total <= maxSorted && window.total * sortCost < walkedRows)
    return await sorted(sql, segment, { ...sorting, bitmap, window })
  const page: number[] = []
  let skipped = 0
  for await (const { books, version } of orderChunks(sql, segment, walk)) {
    if (version !== segment.version) return null
    for (const book of books) {
      if (!has(bitmap, book)) continue
      if (skipped < skip) skipped++
      else if (page.push(book) === take) return reversed ? page.reverse() : page
    }
  }
  return null
}

async function sorted(
  sql: Sql,
  segment: BookSegment,
  { bitmap, window, ...sorting }: Sorting & Hits,
): Promise<number[] | null> {
  const ids = Array.from(membersOf(bitmap), book => idAt(segment.ids, book))
  const [row] = await sql<{ version: string; ids: Buffer }[]>`
    select ${listVersion(sql)} as version, (
      select string_agg(uuid_send(i.id), ''::bytea) from (
        select b.id from book b where b.id = any(${ids}::uuid[])
        order by ${bookOrderBy(sql, 'b', { ...sorting, reversed: false })}
        limit ${window.limit} offset ${window.offset}) i) as ids`
  if (row!.version !== segment.version) return null
  return await placesOf(segment.ids, row!.ids)
}

// Comparisons by a sort column are the part of its sort order between the first and the last book that meets them: two
// look-ups in an index of the database instead of a pass.
const orders: Record<string, BookColumnSort> = {
  pageCount: 'pages',
  releaseDate: 'released',
  dateAdded: 'created',
  addedAt: 'created',
  numberSort: 'number',
}

/** The orders of all comparisons. */
export const comparedSorts: BookColumnSort[] = [...new Set(Object.values(orders))]

/** The order by the column of a comparison; null for other predicates. */
export function orderOfComparison({ field, test }: Predicate): BookColumnSort | null {
  const isComparison = test.kind === 'compare' || test.kind === 'between' || test.kind === 'null'
  return (isComparison && orders[field]) || null
}

/** `order` is that of `orderOfComparison`. Present books only. */
export async function booksInRange(
  sql: Sql,
  segment: BookSegment,
  { predicate, sort, order }: { predicate: Predicate; sort: BookColumnSort; order: SortOrder },
): Promise<{ bitmap: Bitmap; version: string }> {
  const bitmap = emptyBitmap(segment.maxDoc)
  const addRange = (from: number, to: number) => {
    for (let i = from; i < to; i++) add(bitmap, order.docs[i]!)
    subtract(bitmap, segment.missing)
  }
  const { version } = segment
  if (predicate.test.kind === 'null') {
    if (bookSortColumns[sort].nullable) addRange(order.valued, order.docs.length)
    return { bitmap, version }
  }
  const test = bookColumnTest(sql, predicate)!
  const end = (reversed: boolean) => sql`(
    select uuid_send(b.id) from book b where ${presentBook(sql)} and ${test}
    order by ${bookOrderBy(sql, 'b', { sort, direction: 'asc', reversed })} limit 1)`
  const [row] = await unprepared(sql<{ version: string; first: Buffer; last: Buffer }[]>`
    select ${listVersion(sql)} as version, ${end(false)} as first, ${end(true)} as last`)
  const [first] = await placesOf(segment.ids, row!.first)
  const [last] = await placesOf(segment.ids, row!.last)
  if (first !== undefined && last !== undefined)
    addRange(order.docs.indexOf(first), order.docs.indexOf(last) + 1)
  return { bitmap, version: row!.version }
}
