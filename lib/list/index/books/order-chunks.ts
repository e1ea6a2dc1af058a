// A sort order of books read from its index in chunks, from either end, for pages in an order that is not in
// memory: what a page needs is read, which is a part of the order.
import type { Fragment, Sql } from 'postgres'
import { presentBook } from '../../../accounts/viewer.ts'
import type { Queryable } from '../../../store/postgres/db.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersion } from '../../list-version.ts'
import { nearestEnd } from '../../page.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns, type Direction } from '../../sort.ts'
import { has, membersOf } from '../bitmap.ts'
import { forEachOrdinal, idAt, idBytes } from '../id-table.ts'
import type { Hits } from '../index-schema.ts'
import type { BookSegment } from './book-segment.ts'

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
      const books: number[] = []
      await forEachOrdinal(segment.ids, ids, book => {
        books.push(book)
      })
      yield { books, isValued, version }
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
  const page: number[] = []
  await forEachOrdinal(segment.ids, row!.ids, book => {
    page.push(book)
  })
  return page
}
