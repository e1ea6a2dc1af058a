// The index of books (list-index.ts).
import type { Sql } from 'postgres'
import { formatNames } from '../../../media/format/formats.ts'
import type { SearchQuery } from '../../../media/name/search-text.ts'
import { type BookFilter, type Condition, predicatesOf } from '../../condition.ts'
import { versionOfBookField } from '../../list-version.ts'
import { type BookColumnSort, type BookSort, bookSortColumns, type Direction } from '../../sort.ts'
import { expand } from '../../sql/book-fields.ts'
import { matchingWords } from '../../sql/operators.ts'
import type { Environment, IndexSchema, SortField } from '../index-schema.ts'
import { createListIndex, type IndexOptions, type ListIndex } from '../list-index.ts'
import { runsAfter, runsOf } from '../sort-order.ts'
import {
  comparedSorts,
  loadColumnOrder,
  loadPathOrder,
  loadProgressOrder,
  orderOfComparison,
  pageOfChunks,
  renumber,
} from './book-order.ts'
import { loadBookPostings, refreshBookPostings } from './book-postings.ts'
import {
  type BookSegment,
  loadBookSegment,
  type VisibleScope,
  visibleBooks,
} from './book-segment.ts'
import { createTextReader, readTextsAhead } from './book-texts.ts'
import { refreshColumnOrder } from './refresh-order.ts'
import { addedCount, refreshBookSegment } from './refresh-segment.ts'
import { loadRelevanceOrder, refreshRelevanceOrder, relevanceName } from './relevance-order.ts'
import { pageBySeries } from './series-page.ts'

export type BookRequest = VisibleScope & {
  filter: BookFilter | null
  /** What an order by relevance ranks. */
  search?: SearchQuery | null
  sort: BookSort | 'path'
  direction: Direction
  offset: number
  limit: number
}

type Source = SortField<BookSegment>

/** Numbers of changed books, from which on the segment is loaded again. */
const minChanged = 5_000
const changedShare = 0.05

const commonSorts: readonly BookColumnSort[] = ['title', ...comparedSorts]
const otherSorts = (Object.keys(bookSortColumns) as BookColumnSort[]).filter(
  sort => !commonSorts.includes(sort),
)

const columnOrder = (sort: BookColumnSort): Source => ({
  ...{ name: sort, version: 'rows', isLong: true },
  load: (sql, segment) => loadColumnOrder(sql, segment, sort),
  refresh: (sql, segment, order) => refreshColumnOrder(sql, segment, { sort, order }),
})

const conditionOf = ({ filter }: BookRequest): Condition | null =>
  filter && byFormats(expand(filter.condition))

/** Tests of the format as tests of single formats, whose postings serve all of them: there are few. */
function byFormats(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(byFormats) }
  if ('any' in condition) return { any: condition.any.map(byFormats) }
  const { field, test, negated } = condition
  if (field !== 'format' || (test.kind !== 'text' && test.kind !== 'null')) return condition
  const formats = test.kind === 'text' ? matchingWords(formatNames, test) : formatNames
  const isNone = (test.kind === 'null') !== negated
  const parts = formats.map(word => ({
    ...{ field, negated: isNone },
    test: { kind: 'words', words: [word] } as const,
  }))
  return isNone ? { all: parts } : { any: parts }
}

const comparedOrders = (condition: Condition): Source[] =>
  predicatesOf(condition).flatMap(predicate => {
    const sort = orderOfComparison(predicate)
    return sort ? [columnOrder(sort)] : []
  })

const bookSchema: Omit<IndexSchema<BookSegment, BookRequest>, 'loadSegment' | 'idle'> = {
  subject: 'book',
  refreshSegment: refreshBookSegment,
  needsMerge: segment => addedCount(segment) > Math.max(minChanged, segment.maxDoc * changedShare),
  sortOf(viewer, { sort, direction, search: query }) {
    if (sort === 'relevance') {
      const search = query!
      const byRank: Source = {
        ...{ name: relevanceName(search), version: 'rows', isLong: false },
        load: async (sql, segment, known) => {
          const byTitle = await known('title')
          if (!byTitle) return null
          return await loadRelevanceOrder(sql, viewer, { segment, search, byTitle })
        },
        refresh: async (sql, segment, order, known) => {
          const byTitle = await known('title')
          const found = byTitle && { segment, search, byTitle, order }
          return found ? await refreshRelevanceOrder(sql, viewer, found) : null
        },
      }
      return {
        fields: [columnOrder('title'), byRank],
        runs: ([, order]) => runsOf(order!, 'asc'),
      }
    }
    if (sort === 'read') {
      const byProgress: Source = {
        ...{ name: `read ${viewer.accountId}`, version: 'account', isLong: false },
        load: (sql, segment) => loadProgressOrder(sql, viewer, segment),
        refresh: (_, segment, order) => renumber(segment, order),
      }
      return {
        fields: [columnOrder('title'), byProgress],
        runs: ([byTitle, read]) => runsAfter(read!, byTitle!, direction),
      }
    }
    if (sort === 'path')
      return {
        fields: [{ name: sort, version: 'rows', isLong: true, load: loadPathOrder }],
        runs: ([order]) => runsOf(order!, direction),
      }
    if (sort === 'series')
      return {
        ...{ fields: [], runs: null },
        readPage: (sql, segment, list) => pageBySeries(sql, segment, { ...list, direction }),
      }
    return {
      fields: [columnOrder(sort)],
      runs: ([order]) => runsOf(order!, direction),
      readPage: (sql, segment, list) => pageOfChunks(sql, segment, { ...list, sort, direction }),
    }
  },
  warmUp: [
    ...commonSorts.map(columnOrder),
    (_: Sql, segment: BookSegment) => readTextsAhead(segment),
    ...otherSorts.map(columnOrder),
  ],
  sortFieldsOf: request => comparedOrders(conditionOf(request) ?? { all: [] }),
  conditionOf,
  versionOfField: versionOfBookField,
  loadPostings: loadBookPostings,
  refreshPostings: refreshBookPostings,
  scopeOf: ({ libraryId, includeDeleted = false }) => ({ libraryId, includeDeleted }),
  visibleDocs: visibleBooks,
}

export function createBookSchema(environment: Environment): IndexSchema<BookSegment, BookRequest> {
  const textReader = createTextReader(environment)
  return {
    ...bookSchema,
    loadSegment: sql => loadBookSegment(sql, { maxBytes: environment.maxBytes, textReader }),
    idle: textReader.idle,
  }
}

export const createBookIndex = (
  environment: Environment,
  options?: IndexOptions,
): ListIndex<BookSegment, BookRequest> =>
  createListIndex(createBookSchema(environment), environment, options)
