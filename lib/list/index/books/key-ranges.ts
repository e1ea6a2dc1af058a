// Range queries: comparisons of books by a sort column are the part of its sort order between the first and the last book
// that meets them, two look-ups in an index of the database instead of a pass.
import type { Sql } from 'postgres'
import { presentBook } from '../../../accounts/viewer.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import type { Predicate } from '../../condition.ts'
import { listVersion } from '../../list-version.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns } from '../../sort.ts'
import { bookColumnTest } from '../../sql/book-fields.ts'
import { add, type Bitmap, emptyBitmap, subtract } from '../bitmap.ts'
import { forEachOrdinal } from '../id-table.ts'
import type { SortOrder } from '../sort-order.ts'
import type { BookSegment } from './book-segment.ts'

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
  const { first, last } = row!
  const places: number[] = []
  for (const id of [first, last])
    await forEachOrdinal(segment.ids, id, book => {
      places.push(order.docs.indexOf(book))
    })
  const [from, to] = places
  if (from !== undefined && to !== undefined) addRange(from, to + 1)
  return { bitmap, version: row!.version }
}
