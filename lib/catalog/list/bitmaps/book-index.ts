// Index of bitmaps of books (row-index.ts).
import type { BookFilter } from '../condition.ts'
import { versionOfBookField } from '../marks/list-version.ts'
import type { MarkedScope } from '../marks/read-marks.ts'
import { expand } from '../plan/book-plan.ts'
import { withRarePredicates } from '../plan/series-sets.ts'
import type { BookSort, Direction } from '../sort.ts'
import { readColumnOrder, readProgressOrder, readSeriesOrder } from './book-order.ts'
import { type BookTable, readBookTable, visibleBooks } from './book-table.ts'
import { readPredicateBooks } from './predicate-books.ts'
import { sharedIndex } from './row-index.ts'
import type { OrderSource, RowKind } from './row-kind.ts'
import { runsAfter, runsOf } from './row-order.ts'

export type BookRequest = MarkedScope & {
  filter: BookFilter | null
  sort: Exclude<BookSort, 'relevance'>
  direction: Direction
  offset: number
  limit: number
}

type Source = OrderSource<BookTable>

const maxRows = 2_500_000

const columnOrder = (sort: Exclude<BookRequest['sort'], 'read' | 'series'>): Source => ({
  ...{ name: sort, version: 'rows', isLong: true },
  read: (sql, table) => readColumnOrder(sql, table, sort),
})

const seriesOrder = (direction: Direction): Source => ({
  ...{ name: `series ${direction}`, version: 'rows', isLong: true },
  async read(sql, table, known) {
    const byTitle = known('title')
    return byTitle ? await readSeriesOrder(sql, table, { direction, byTitle }) : null
  },
})

export const bookKind: RowKind<BookTable, BookRequest> = {
  subject: 'book',
  readTable: sql => readBookTable(sql, { maxRows }),
  firstOrders: () => [],
  orderOf(viewer, { sort, direction }) {
    if (sort === 'read') {
      const byProgress: Source = {
        ...{ name: `read ${viewer.accountId}`, version: 'account', isLong: false },
        read: (sql, table) => readProgressOrder(sql, viewer, table),
      }
      return {
        sources: [columnOrder('title'), byProgress],
        runs: ([byTitle, read]) => runsAfter(read!, byTitle!, direction),
      }
    }
    if (sort === 'series')
      return {
        sources: [columnOrder('title'), seriesOrder(direction)],
        runs: ([, order]) => runsOf(order!, 'asc'),
      }
    return { sources: [columnOrder(sort)], runs: ([order]) => runsOf(order!, direction) }
  },
  conditionOf: ({ condition }) => withRarePredicates(expand(condition)),
  versionOfField: versionOfBookField,
  readPredicate: readPredicateBooks,
  scopeOf: ({ libraryId, includeDeleted = false }) => ({ libraryId, includeDeleted }),
  visible: visibleBooks,
}

/** The index of this process for a database. */
export const bookIndexOf = sharedIndex(bookKind)
