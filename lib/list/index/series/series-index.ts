// The index of series (list-index.ts).
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
import type { IndexSchema, SortField } from '../index-schema.ts'
import { createListIndex, type IndexOptions, type ListIndex } from '../list-index.ts'
import { runsAfter, runsOf } from '../sort-order.ts'
import {
  loadSeriesColumnOrder,
  loadSeriesKeyOrder,
  loadSeriesValueOrder,
  type SeriesColumn,
} from './series-order.ts'
import { loadSeriesPostings } from './series-postings.ts'
import {
  loadSeriesSegment,
  type SeriesScope,
  type SeriesSegment,
  visibleSeriesDocs,
} from './series-segment.ts'

export type SeriesRequest = SeriesScope & {
  filter: SeriesFilter | null
  sort: SeriesColumnSort
  direction: Direction
  /** Further keys, by columns. */
  then?: readonly SeriesSortKey[] | undefined
  collectionId?: string | undefined
  /** Seed of the order `random`. */
  seed?: number | undefined
  offset: number
  limit: number
}

type Source = SortField<SeriesSegment>

const defaultMaxRowsAtOnce = 100_000

const isColumn = (sort: SeriesColumnSort): sort is SeriesColumn =>
  Object.hasOwn(seriesSortColumns, sort)

const columnOrder = (sort: SeriesColumn, isLong: boolean): Source => ({
  ...{ name: sort, version: 'rows', isLong },
  load: (sql, of) => loadSeriesColumnOrder(sql, of, sort),
})

function valueOrder(viewer: Viewer, { sort, direction, collectionId }: SeriesRequest): Source {
  const scope: SortScope = { accountId: viewer.accountId, collectionId }
  const version = valueVersions[sort] ?? null
  const owner = version === 'account' ? viewer.accountId : ''
  return {
    ...{ name: `${sort} ${direction} ${owner}`, version, isLong: false },
    load: (sql, segment) =>
      loadSeriesValueOrder(sql, viewer, { segment, sort, direction, ...scope }),
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
    load: (sql, of) => loadSeriesKeyOrder(sql, of, { sort, direction, then, seed }),
  }
}

/** Orders of more series than `maxRowsAtOnce` are read in the background, like those of books. */
export function createSeriesSchema(
  { maxBytes }: Environment,
  { maxRowsAtOnce = defaultMaxRowsAtOnce }: { maxRowsAtOnce?: number } = {},
): IndexSchema<SeriesSegment, SeriesRequest> {
  const isLarge = (segment: SeriesSegment | null) =>
    segment !== null && segment.maxDoc > maxRowsAtOnce
  return {
    subject: 'series',
    loadSegment: sql => loadSeriesSegment(sql, { maxBytes }),
    sortOf(viewer, request, segment) {
      const { sort, direction } = request
      const isLong = isLarge(segment)
      if (isColumn(sort) && furtherColumns(request).length === 0)
        return {
          fields: [columnOrder(sort, isLong)],
          runs: ([order]) => runsOf(order!, direction),
        }
      if (isColumn(sort) || sort === 'random')
        return { fields: [keyOrder(request, isLong)], runs: ([order]) => runsOf(order!, 'asc') }
      return {
        fields: [columnOrder('title', false), valueOrder(viewer, request)],
        runs: ([byTitle, order]) => runsAfter(order!, byTitle!, 'asc'),
      }
    },
    conditionOf: ({ filter }) => filter?.condition ?? null,
    versionOfField: versionOfSeriesField,
    loadPostings: loadSeriesPostings,
    scopeOf: ({ libraryId, onlyWithVisibleBooks = false, includeDeleted = false }) => ({
      ...{ libraryId, onlyWithVisibleBooks, includeDeleted },
    }),
    visibleDocs: visibleSeriesDocs,
  }
}

export const createSeriesIndex = (
  environment: Environment,
  options?: IndexOptions,
): ListIndex<SeriesSegment, SeriesRequest> =>
  createListIndex(createSeriesSchema(environment), environment, options)
