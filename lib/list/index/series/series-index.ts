// The index of series (list-index.ts).
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { unionAll, unprepared } from '../../../store/postgres/statement.ts'
import {
  listVersion,
  listVersions,
  type Versions,
  versionOfSeriesField,
} from '../../list-version.ts'
import {
  nullableSeriesSorts,
  type SeriesColumnSort,
  type SeriesSortKey,
  type SortScope,
  seriesOrderBy,
  seriesSortColumns,
  seriesSortValues,
} from '../../sort.ts'
import { seriesMatch } from '../../sql/series-fields.ts'
import type { SeriesList } from '../../sql/series-statement.ts'
import { add, emptyBitmap, invert } from '../bitmap.ts'
import { forEachOrdinal, idsOf } from '../id-table.ts'
import type {
  Environment,
  IndexSchema,
  LoadedOrder,
  LoadedPostings,
  PostingsRequest,
  SortField,
} from '../index-schema.ts'
import { createListIndex, type IndexOptions, type ListIndex } from '../list-index.ts'
import { runsAfter, runsOf } from '../sort-order.ts'
import { loadSeriesSegment, type SeriesSegment, visibleSeriesDocs } from './series-segment.ts'

export type SeriesRequest = Omit<SeriesList, 'search' | 'sort' | 'then' | 'seed'> &
  Partial<Pick<SeriesList, 'then' | 'seed'>> & { sort: SeriesColumnSort }

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

/** The positive form of the predicate, by one statement. */
async function loadSeriesPostings(
  sql: Sql,
  viewer: Viewer,
  { segment, predicate, withMissing }: PostingsRequest<SeriesSegment>,
): Promise<LoadedPostings> {
  const context = { sql, viewer, includesMissing: withMissing }
  const { ids, test, isNegated } = seriesMatch(context, predicate)
  const isListed = withMissing ? sql`true` : sql`s.book_count > 0`
  const tested = test && sql`select s.id from series s where ${isListed} and ${test}`
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'series')} as versions, ${idsOf(sql, ids ?? tested)} as ids`)
  const bitmap = emptyBitmap(segment.maxDoc)
  await forEachOrdinal(segment.ids, row!.ids, series => add(bitmap, series))
  if (isNegated) invert(bitmap)
  return { versions: row!.versions, bitmap, coversMissing: withMissing }
}

type SeriesColumn = keyof typeof seriesSortColumns

/** In ascending order. */
async function loadSeriesColumnOrder(
  sql: Sql,
  segment: SeriesSegment,
  sort: SeriesColumn,
): Promise<LoadedOrder> {
  // Document numbers follow the title order.
  if (sort === 'title') {
    const rows = new Uint32Array(segment.maxDoc).map((_, series) => series)
    return { versions: { rows: segment.version }, docs: rows, valued: rows.length }
  }
  const key = sql(seriesSortColumns[sort])
  const isNullable = nullableSeriesSorts.includes(sort)
  // Each part from a partial index.
  const all = unionAll(sql, [
    sql`select id, ${key} as key from series where book_count > 0`,
    sql`select id, ${key} from series where book_count = 0`,
  ])
  const inOrder = sql`
    select id from (${all}) s where ${isNullable ? sql`key is not null` : sql`true`} order by key, id`
  const without = isNullable ? sql`select id from (${all}) s where key is null order by id` : null
  return await readParts(sql, segment, [inOrder, without])
}

/** In the order of several keys or of random numbers. */
async function loadSeriesKeyOrder(
  sql: Sql,
  segment: SeriesSegment,
  keys: SeriesSortKey & { then: readonly SeriesSortKey[]; seed: number },
): Promise<LoadedOrder> {
  const order = seriesOrderBy(sql, keys)
  return await readParts(sql, segment, [sql`select s.id from series s order by ${order}`, null])
}

async function readParts(
  sql: Sql,
  segment: SeriesSegment,
  [inOrder, without]: [Fragment, Fragment | null],
): Promise<LoadedOrder> {
  type Row = { version: string; ids: Buffer | null; without: Buffer | null }
  const [row] = await unprepared(sql<Row[]>`
    select ${listVersion(sql, 'series')} as version, ${idsOf(sql, inOrder)} as ids,
      ${idsOf(sql, without)} as without`)
  const rows = new Uint32Array(segment.maxDoc)
  let count = 0
  const append = (series: number) => {
    rows[count++] = series
  }
  await forEachOrdinal(segment.ids, row!.ids, append)
  const valued = count
  await forEachOrdinal(segment.ids, row!.without, append)
  return { versions: { rows: row!.version }, docs: rows, valued }
}

/** The series that have one of the values that few have, series of the same value by title; for one direction. */
async function loadSeriesValueOrder(
  sql: Sql,
  viewer: Viewer,
  { segment, sort, direction, ...scope }: { segment: SeriesSegment } & SeriesSortKey & SortScope,
): Promise<LoadedOrder> {
  const way = direction === 'desc' ? sql`desc` : sql`asc`
  type Row = { versions: Versions; ids: Buffer | null; ranks: Buffer | null }
  const [row] = await unprepared(sql<Row[]>`
    select ${listVersions(sql, viewer, 'series')} as versions,
      string_agg(uuid_send(r.series_id), ''::bytea) as ids,
      string_agg(int4send(r.rank), ''::bytea) as ranks
    from (
      select v.series_id, (dense_rank() over (order by v.value ${way}))::integer as rank
      from (${seriesSortValues(sql, sort, scope)!}) v where v.value is not null) r`)
  const found: { series: number; rank: number }[] = []
  await forEachOrdinal(segment.ids, row!.ids, (series, i) => {
    found.push({ series, rank: row!.ranks!.readInt32BE(i * 4) })
  })
  found.sort((a, b) => a.rank - b.rank || a.series - b.series)
  const rows = Uint32Array.from(found, ({ series }) => series)
  return { versions: row!.versions, docs: rows, valued: rows.length }
}
