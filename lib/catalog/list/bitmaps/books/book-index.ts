// Index of bitmaps of books (row-index.ts).
import type { BookFilter, Condition } from '../../condition.ts'
import { versionOfBookField } from '../../marks/list-version.ts'
import type { MarkedScope } from '../../marks/read-marks.ts'
import { expand } from '../../plan/book-plan.ts'
import { withRarePredicates } from '../../plan/series-sets.ts'
import { type BookColumnSort, type BookSort, bookSortColumns, type Direction } from '../../sort.ts'
import { sharedIndex } from '../row-index.ts'
import type { OrderSource, RowKind } from '../row-kind.ts'
import { runsAfter, runsOf } from '../row-order.ts'
import { readColumnOrder, readPathOrder, readProgressOrder, renumber } from './book-order.ts'
import { type BookTable, readBookTable, visibleBooks } from './book-table.ts'
import { readTextsAhead, textsRead } from './book-texts.ts'
import { extendColumnOrder } from './extend-order.ts'
import { addedCount, followBooks } from './follow-books.ts'
import { comparedSorts, orderOfComparison } from './key-ranges.ts'
import { pageOfChunks } from './order-chunks.ts'
import { extendPredicateBooks, readPredicateBooks } from './predicate-books.ts'
import { extendRelevanceOrder, readRelevanceOrder, relevanceName } from './relevance-order.ts'
import { pageBySeries } from './series-page.ts'
import { readFormatsAhead } from './word-books.ts'

export type BookRequest = MarkedScope & {
  filter: BookFilter | null
  /** Words to search for; null for none. */
  text?: string | null
  sort: BookSort | 'path'
  direction: Direction
  offset: number
  limit: number
}

type Source = OrderSource<BookTable>

export const maxRows = 2_500_000
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

function conditionOf({ filter, text }: BookRequest): Condition | null {
  const condition = filter && withRarePredicates(expand(filter.condition))
  if (!text) return condition
  const test = { kind: 'text', operator: 'contains', value: text } as const
  return { all: [{ field: 'text', test, negated: false }, ...(condition ? [condition] : [])] }
}

function comparedOrders(condition: Condition): Source[] {
  if ('all' in condition) return condition.all.flatMap(comparedOrders)
  if ('any' in condition) return condition.any.flatMap(comparedOrders)
  const sort = orderOfComparison(condition)
  return sort ? [columnOrder(sort)] : []
}

export const bookKind: RowKind<BookTable, BookRequest> = {
  subject: 'book',
  readTable: sql => readBookTable(sql, { maxRows }),
  followChanges: followBooks,
  isWorn: table => addedCount(table) > Math.max(minWorn, table.rowCount * wornShare),
  orderOf(viewer, { sort, direction, text }) {
    if (sort === 'relevance') {
      const byRank: Source = {
        ...{ name: relevanceName(text ?? ''), version: 'rows', isLong: false },
        read: async (sql, table, known) => {
          const byTitle = await known('title')
          if (!byTitle) return null
          return await readRelevanceOrder(sql, viewer, { table, text: text ?? '', byTitle })
        },
        extend: async (sql, table, order, known) => {
          const byTitle = await known('title')
          const search = byTitle && { table, text: text ?? '', byTitle, order }
          return search ? await extendRelevanceOrder(sql, viewer, search) : null
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
    ...[readFormatsAhead, readTextsAhead],
    ...otherSorts.map(columnOrder),
  ],
  idle: textsRead,
  ordersOfCondition: request => comparedOrders(conditionOf(request) ?? { all: [] }),
  conditionOf,
  versionOfField: versionOfBookField,
  readPredicate: readPredicateBooks,
  extendPredicate: extendPredicateBooks,
  scopeOf: ({ libraryId, includeDeleted = false }) => ({ libraryId, includeDeleted }),
  visible: visibleBooks,
}

/** The index of this process for a database. */
export const bookIndexOf = sharedIndex(bookKind)
