// Book lists by the plain statement, the oracle for all other ways.
import type { Sql } from 'postgres'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import type { BookFilter } from '../../lib/list/condition.ts'
import { bookSortColumns } from '../../lib/list/sort.ts'
import { type BookList, readBooks } from '../../lib/list/sql/book-statement.ts'

export const sorts = [
  ...(Object.keys(bookSortColumns) as (keyof typeof bookSortColumns)[]),
  'series',
  'read',
] as const

export type List = Omit<BookList, 'offset' | 'limit' | 'filter' | 'sort' | 'search'> & {
  filter: BookFilter
  sort: (typeof sorts)[number]
}

/** All ids in order. */
export async function plainList(sql: Sql, viewer: Viewer, list: List): Promise<string[]> {
  const all = { ...list, search: null, offset: 0, limit: 1_000_000 }
  return (await readBooks(sql, viewer, all)).ids
}
