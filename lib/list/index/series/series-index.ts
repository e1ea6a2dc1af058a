// Index of bitmaps of series (row-index.ts).
import type { Viewer } from '../../../accounts/viewer.ts'
import type { SeriesFilter } from '../../condition.ts'
import { versionOfSeriesField } from '../../list-version.ts'
import {
  type Direction,
  type SeriesColumnSort,
  type SeriesSortKey,
  type SortScope,
  seriesSortColumns,
} from '../../sort.ts'
import type { Environment } from '../environment.ts'
import { createRowIndex, type IndexOptions, type RowIndex } from '../row-index.ts'
import type { OrderSource, RowKind } from '../row-kind.ts'
import { runsAfter, runsOf } from '../row-order.ts'
import { readPredicateSeries } from './predicate-series.ts'
import {
  readSeriesColumnOrder,
  readSeriesKeyOrder,
  readSeriesValueOrder,
  type SeriesColumn,
} from './series-order.ts'
import { readSeriesTable, type SeriesScope, type SeriesTable, visibleOf } from './series-table.ts'

export type SeriesRequest = SeriesScope & {
  filter: SeriesFilter | null
  sort: SeriesColumnSort
  direction: Direction
  /** Further keys, by columns. */
  then?: readonly SeriesSortKey[] | undefined
  collectionId?: string | undefined
  /** Of `random`. */
  seed?: number | undefined
  offset: number
  limit: number
}

type Source = OrderSource<SeriesTable>

const defaultMaxRowsAtOnce = 100_000

const isColumn = (sort: SeriesColumnSort): sort is SeriesColumn =>
  Object.hasOwn(seriesSortColumns, sort)

const columnOrder = (sort: SeriesColumn, isLong: boolean): Source => ({
  ...{ name: sort, version: 'rows', isLong },
  read: (sql, of) => readSeriesColumnOrder(sql, of, sort),
})

function valueOrder(viewer: Viewer, { sort, direction, collectionId }: SeriesRequest): Source {
  const scope: SortScope = { accountId: viewer.accountId, collectionId }
  const version = valueVersions[sort] ?? null
  const owner = version === 'account' ? viewer.accountId : ''
  return {
    ...{ name: `${sort} ${direction} ${owner}`, version, isLong: false },
    read: (sql, table) => readSeriesValueOrder(sql, viewer, { table, sort, direction, ...scope }),
  }
}

const valueVersions: Partial<Record<SeriesColumnSort, 'rows' | 'account' | 'ratings'>> = {
  read: 'account',
  rating: 'account',
  communityRating: 'ratings',
  externalRating: 'rows',
}

const furtherColumns = ({ then = [] }: SeriesRequest) => then.filter(key => isColumn(key.sort))

/** The same for all accounts: by several columns or by random numbers. */
function keyOrder(request: SeriesRequest, isLong: boolean): Source {
  const { sort, direction, seed = 0 } = request
  const then = sort === 'random' ? [] : furtherColumns(request)
  const name = sort === 'random' ? `random ${seed}` : JSON.stringify([sort, direction, then])
  return {
    ...{ name, version: 'rows', isLong },
    read: (sql, of) => readSeriesKeyOrder(sql, of, { sort, direction, then, seed }),
  }
}

/** Orders of more series than `maxRowsAtOnce` are read in the background, like those of books. */
export function createSeriesKind(
  { maxBytes }: Environment,
  { maxRowsAtOnce = defaultMaxRowsAtOnce }: { maxRowsAtOnce?: number } = {},
): RowKind<SeriesTable, SeriesRequest> {
  const isLarge = (table: SeriesTable | null) => table !== null && table.rowCount > maxRowsAtOnce
  return {
    subject: 'series',
    readTable: sql => readSeriesTable(sql, { maxBytes }),
    orderOf(viewer, request, table) {
      const { sort, direction } = request
      const isLong = isLarge(table)
      if (isColumn(sort) && furtherColumns(request).length === 0)
        return {
          sources: [columnOrder(sort, isLong)],
          runs: ([order]) => runsOf(order!, direction),
        }
      if (isColumn(sort) || sort === 'random')
        return { sources: [keyOrder(request, isLong)], runs: ([order]) => runsOf(order!, 'asc') }
      return {
        sources: [columnOrder('title', false), valueOrder(viewer, request)],
        runs: ([byTitle, order]) => runsAfter(order!, byTitle!, 'asc'),
      }
    },
    conditionOf: ({ filter }) => filter?.condition ?? null,
    versionOfField: versionOfSeriesField,
    readPredicate: readPredicateSeries,
    scopeOf: ({ libraryId, onlyWithVisibleBooks = false, includeDeleted = false }) => ({
      ...{ libraryId, onlyWithVisibleBooks, includeDeleted },
    }),
    visible: visibleOf,
  }
}

export const createSeriesIndex = (
  environment: Environment,
  options?: IndexOptions,
): RowIndex<SeriesTable, SeriesRequest> =>
  createRowIndex(createSeriesKind(environment), environment, options)
