// Index of bitmaps of books (row-index.ts).
import type { Sql } from 'postgres'
import type { SearchQuery } from '../../../media/name/search-text.ts'
import type { BookFilter, Condition } from '../../condition.ts'
import { versionOfBookField } from '../../list-version.ts'
import { type BookColumnSort, type BookSort, bookSortColumns, type Direction } from '../../sort.ts'
import { expand } from '../../sql/book-fields.ts'
import type { Environment } from '../environment.ts'
import { createRowIndex, type IndexOptions, type RowIndex } from '../row-index.ts'
import type { OrderSource, RowKind } from '../row-kind.ts'
import { runsAfter, runsOf } from '../row-order.ts'
import { readColumnOrder, readPathOrder, readProgressOrder, renumber } from './book-order.ts'
import { type BookTable, readBookTable, type VisibleScope, visibleBooks } from './book-table.ts'
import { createTextReader, readTextsAhead } from './book-texts.ts'
import { extendColumnOrder } from './extend-order.ts'
import { addedCount, followBooks } from './follow-books.ts'
import { comparedSorts, orderOfComparison } from './key-ranges.ts'
import { pageOfChunks } from './order-chunks.ts'
import { extendPredicateBooks, readPredicateBooks } from './predicate-books.ts'
import { extendRelevanceOrder, readRelevanceOrder, relevanceName } from './relevance-order.ts'
import { pageBySeries } from './series-page.ts'
import { readFormatsAhead } from './word-books.ts'

export type BookRequest = VisibleScope & {
  filter: BookFilter | null
  /** What an order by relevance ranks. */
  search?: SearchQuery | null
  sort: BookSort | 'path'
  direction: Direction
  offset: number
  limit: number
}

type Source = OrderSource<BookTable>

/** Numbers of changed books, from which on the table is read again. */
const minWorn = 5_000
const wornShare = 0.05

const commonSorts: readonly BookColumnSort[] = ['title', ...comparedSorts]
const otherSorts = (Object.keys(bookSortColumns) as BookColumnSort[]).filter(
  sort => !commonSorts.includes(sort),
)

const columnOrder = (sort: BookColumnSort): Source => ({
  ...{ name: sort, version: 'rows', isLong: true },
  read: (sql, table) => readColumnOrder(sql, table, sort),
  extend: (sql, table, order) => extendColumnOrder(sql, table, { sort, order }),
})

const conditionOf = ({ filter }: BookRequest): Condition | null =>
  filter && expand(filter.condition)

function comparedOrders(condition: Condition): Source[] {
  if ('all' in condition) return condition.all.flatMap(comparedOrders)
  if ('any' in condition) return condition.any.flatMap(comparedOrders)
  const sort = orderOfComparison(condition)
  return sort ? [columnOrder(sort)] : []
}

const bookKind: Omit<RowKind<BookTable, BookRequest>, 'readTable' | 'idle'> = {
  subject: 'book',
  followChanges: followBooks,
  isWorn: table => addedCount(table) > Math.max(minWorn, table.rowCount * wornShare),
  orderOf(viewer, { sort, direction, search: query }) {
    if (sort === 'relevance') {
      const search = query!
      const byRank: Source = {
        ...{ name: relevanceName(search), version: 'rows', isLong: false },
        read: async (sql, table, known) => {
          const byTitle = await known('title')
          if (!byTitle) return null
          return await readRelevanceOrder(sql, viewer, { table, search, byTitle })
        },
        extend: async (sql, table, order, known) => {
          const byTitle = await known('title')
          const found = byTitle && { table, search, byTitle, order }
          return found ? await extendRelevanceOrder(sql, viewer, found) : null
        },
      }
      return {
        sources: [columnOrder('title'), byRank],
        runs: ([, order]) => runsOf(order!, 'asc'),
      }
    }
    if (sort === 'read') {
      const byProgress: Source = {
        ...{ name: `read ${viewer.accountId}`, version: 'account', isLong: false },
        read: (sql, table) => readProgressOrder(sql, viewer, table),
        extend: (_, table, order) => renumber(table, order),
      }
      return {
        sources: [columnOrder('title'), byProgress],
        runs: ([byTitle, read]) => runsAfter(read!, byTitle!, direction),
      }
    }
    if (sort === 'path')
      return {
        sources: [{ name: sort, version: 'rows', isLong: true, read: readPathOrder }],
        runs: ([order]) => runsOf(order!, direction),
      }
    if (sort === 'series')
      return {
        ...{ sources: [], runs: null },
        read: (sql, table, list) => pageBySeries(sql, table, { ...list, direction }),
      }
    return {
      sources: [columnOrder(sort)],
      runs: ([order]) => runsOf(order!, direction),
      read: (sql, table, list) => pageOfChunks(sql, table, { ...list, sort, direction }),
    }
  },
  readAhead: [
    ...commonSorts.map(columnOrder),
    ...[readFormatsAhead, (_: Sql, table: BookTable) => readTextsAhead(table)],
    ...otherSorts.map(columnOrder),
  ],
  ordersOfCondition: request => comparedOrders(conditionOf(request) ?? { all: [] }),
  conditionOf,
  versionOfField: versionOfBookField,
  readPredicate: readPredicateBooks,
  extendPredicate: extendPredicateBooks,
  scopeOf: ({ libraryId, includeDeleted = false }) => ({ libraryId, includeDeleted }),
  visible: visibleBooks,
}

export function createBookKind(environment: Environment): RowKind<BookTable, BookRequest> {
  const textReader = createTextReader(environment)
  return {
    ...bookKind,
    readTable: sql => readBookTable(sql, { maxBytes: environment.maxBytes, textReader }),
    idle: textReader.idle,
  }
}

export const createBookIndex = (
  environment: Environment,
  options?: IndexOptions,
): RowIndex<BookTable, BookRequest> =>
  createRowIndex(createBookKind(environment), environment, options)
