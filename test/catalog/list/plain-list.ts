// Lists of books by a plain query that tests each book alone: what lists made in other ways are compared with.
import type { Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../../lib/auth/viewer.ts'
import { readingOrder } from '../../../lib/catalog/derived/reading-order.ts'
import type { BookRequest } from '../../../lib/catalog/list/bitmaps/books/book-index.ts'
import type { BookFilter } from '../../../lib/catalog/list/condition.ts'
import { expand } from '../../../lib/catalog/list/plan/book-plan.ts'
import { compileBookTree } from '../../../lib/catalog/list/plan/book-tree.ts'
import { lookUpLabels } from '../../../lib/catalog/list/plan/labels.ts'
import { bookOrderBy, bookSortColumns } from '../../../lib/catalog/list/sort.ts'

export const sorts = [
  ...(Object.keys(bookSortColumns) as (keyof typeof bookSortColumns)[]),
  'series',
  'read',
] as const

export type List = Omit<BookRequest, 'offset' | 'limit' | 'filter' | 'sort'> & {
  filter: BookFilter
  sort: (typeof sorts)[number]
}

/** All ids in order. */
export async function plainList(sql: Sql, viewer: Viewer, list: List): Promise<string[]> {
  const labels = await lookUpLabels(sql, list.filter)
  const context = { sql, viewer, labels, includesMissing: true, hitSets: new Map() }
  const { exact } = compileBookTree(context, viewer, expand(list.filter.condition))
  const rows = await sql<{ id: string }[]>`
    select b.id from book b join series s on s.id = b.series_id
    left join progress p on p.book_id = b.id and p.account_id = ${viewer.accountId}
    where ${list.includeDeleted ? sql`true` : presentBook(sql)} and ${visibleBook(sql, viewer)}
      and ${list.libraryId === undefined ? sql`true` : sql`b.library_id = ${list.libraryId}`}
      and ${exact}
    order by ${orderBy(sql, list)}`
  return rows.map(row => row.id)
}

function orderBy(sql: Sql, { sort, direction }: List) {
  const way = direction === 'desc' ? sql`desc` : sql`asc`
  if (sort === 'read')
    return sql`p.book_id is null, p.updated_at ${way}, p.book_id ${way}, b.sort_key, b.id`
  if (sort !== 'series') return bookOrderBy(sql, 'b', { sort, direction, reversed: false })
  return sql`s.sort_key ${way}, s.id ${way}, ${readingOrder(sql, 'b', direction)}`
}
