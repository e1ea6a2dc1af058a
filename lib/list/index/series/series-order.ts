// Sort orders of all series as the numbers of the series in order.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { unionAll, unprepared } from '../../../store/postgres/statement.ts'
import { listVersion, listVersions, type Versions } from '../../list-version.ts'
import {
  nullableSeriesSorts,
  type SeriesSortKey,
  type SortScope,
  seriesOrderBy,
  seriesSortColumns,
  seriesSortValues,
} from '../../sort.ts'
import { forEachOrdinal } from '../id-table.ts'
import type { LoadedOrder } from '../index-schema.ts'
import { idsOf } from '../read-ids.ts'
import type { SeriesSegment } from './series-segment.ts'

export type SeriesColumn = keyof typeof seriesSortColumns

/** In ascending order. */
export async function loadSeriesColumnOrder(
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
export async function loadSeriesKeyOrder(
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
export async function loadSeriesValueOrder(
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
