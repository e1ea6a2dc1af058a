// The series for which a predicate holds, as a bitmap: read by one statement.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersions, type Versions } from '../../list-version.ts'
import { seriesMatch } from '../../sql/series-fields.ts'
import { add, emptyBitmap, invert } from '../bitmap.ts'
import { forEachPlace } from '../id-table.ts'
import { idsOf } from '../read-ids.ts'
import type { PredicateRequest, PredicateRows } from '../row-kind.ts'
import type { SeriesTable } from './series-table.ts'

/** The positive form of the predicate. */
export async function readPredicateSeries(
  sql: Sql,
  viewer: Viewer,
  { table, predicate, withMissing }: PredicateRequest<SeriesTable>,
): Promise<PredicateRows> {
  const context = { sql, viewer, includesMissing: withMissing }
  const { ids, test, isNegated } = seriesMatch(context, predicate)
  const isListed = withMissing ? sql`true` : sql`s.book_count > 0`
  const tested = test && sql`select s.id from series s where ${isListed} and ${test}`
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'series')} as versions, ${idsOf(sql, ids ?? tested)} as ids`)
  const bitmap = emptyBitmap(table.rowCount)
  await forEachPlace(table.rows, row!.ids, series => add(bitmap, series))
  if (isNegated) invert(bitmap)
  return { versions: row!.versions, bitmap, coversMissing: withMissing }
}
