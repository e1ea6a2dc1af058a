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
import { forEachPlace } from '../id-table.ts'
import { idsOf } from '../read-ids.ts'
import type { ReadOrder } from '../row-kind.ts'
import type { SeriesTable } from './series-table.ts'

export type SeriesColumn = keyof typeof seriesSortColumns

/** In ascending order. */
export async function readSeriesColumnOrder(
  sql: Sql,
  table: SeriesTable,
  sort: SeriesColumn,
): Promise<ReadOrder> {
  // Of which the numbers are.
  if (sort === 'title') {
    const rows = new Uint32Array(table.rowCount).map((_, series) => series)
    return { versions: { rows: table.version }, rows, valued: rows.length }
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
  return await readParts(sql, table, [inOrder, without])
}

/** In the order of several keys or of random numbers. */
export async function readSeriesKeyOrder(
  sql: Sql,
  table: SeriesTable,
  keys: SeriesSortKey & { then: readonly SeriesSortKey[]; seed: number },
): Promise<ReadOrder> {
  const order = seriesOrderBy(sql, keys)
  return await readParts(sql, table, [sql`select s.id from series s order by ${order}`, null])
}

async function readParts(
  sql: Sql,
  table: SeriesTable,
  [inOrder, without]: [Fragment, Fragment | null],
): Promise<ReadOrder> {
  type Row = { version: string; ids: Buffer | null; without: Buffer | null }
  const [row] = await unprepared(sql<Row[]>`
    select ${listVersion(sql, 'series')} as version, ${idsOf(sql, inOrder)} as ids,
      ${idsOf(sql, without)} as without`)
  const rows = new Uint32Array(table.rowCount)
  let count = 0
  const append = (series: number) => {
    rows[count++] = series
  }
  await forEachPlace(table.rows, row!.ids, append)
  const valued = count
  await forEachPlace(table.rows, row!.without, append)
  return { versions: { rows: row!.version }, rows, valued }
}

/** The series that have one of the values that few have, series of the same value by title; for one direction. */
export async function readSeriesValueOrder(
  sql: Sql,
  viewer: Viewer,
  { table, sort, direction, ...scope }: { table: SeriesTable } & SeriesSortKey & SortScope,
): Promise<ReadOrder> {
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
  await forEachPlace(table.rows, row!.ids, (series, i) => {
    found.push({ series, rank: row!.ranks!.readInt32BE(i * 4) })
  })
  found.sort((a, b) => a.rank - b.rank || a.series - b.series)
  const rows = Uint32Array.from(found, ({ series }) => series)
  return { versions: row!.versions, rows, valued: rows.length }
}
