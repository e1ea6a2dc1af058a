// The series for which a predicate holds, as a bitmap: read by one statement.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../../auth/viewer.ts'
import { unprepared } from '../../../../postgres/statement.ts'
import { listVersions, type Versions } from '../../marks/list-version.ts'
import { lookUpLabels } from '../../plan/labels.ts'
import { seriesOfStatus } from '../../plan/series-reading.ts'
import { seriesSet } from '../../plan/series-sets.ts'
import { add, emptyBitmap, invert } from '../bitmap.ts'
import { forEachPlace } from '../id-table.ts'
import { idsOf } from '../read-ids.ts'
import type { PredicateRequest, PredicateRows } from '../row-kind.ts'
import type { SeriesTable } from './series-table.ts'

/** The positive form of the predicate, which is one of `toRarePredicate`. */
export async function readPredicateSeries(
  sql: Sql,
  viewer: Viewer,
  { table, predicate, withMissing }: PredicateRequest<SeriesTable>,
): Promise<PredicateRows> {
  const { test } = predicate
  const labels = await lookUpLabels(sql, { of: 'series', condition: predicate })
  const context = { sql, viewer, labels, includesMissing: withMissing }
  const query =
    test.kind === 'status' ? seriesOfStatus(context, test.status) : seriesSet(context, predicate)
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'series')} as versions, ${idsOf(sql, query)} as ids`)
  const bitmap = emptyBitmap(table.rowCount)
  await forEachPlace(table.rows, row!.ids, series => add(bitmap, series))
  if (test.kind === 'status' && test.status === 'unread') invert(bitmap)
  return { versions: row!.versions, bitmap, coversMissing: withMissing }
}
