// The series for which a predicate holds, as a bitmap: read by one statement.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../../auth/viewer.ts'
import { unprepared } from '../../../../postgres/statement.ts'
import { listVersions, type Versions } from '../../marks/list-version.ts'
import { lookUpLabels } from '../../plan/labels.ts'
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
    test.kind === 'status' ? readSeries(sql, viewer, test.status) : seriesSet(context, predicate)
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'series')} as versions, ${idsOf(sql, query)} as ids`)
  const bitmap = emptyBitmap(table.rowCount)
  await forEachPlace(table.rows, row!.ids, series => add(bitmap, series))
  if (test.kind === 'status' && test.status === 'unread') invert(bitmap)
  return { versions: row!.versions, bitmap, coversMissing: withMissing }
}

/** Of `unread` the others. As in plan/series-plan.ts. */
function readSeries(
  sql: Sql,
  { accountId }: Viewer,
  status: 'read' | 'in_progress' | 'unread',
): Fragment {
  const isOpened = sql`(r.opened_count > 0 or r.read_count > 0)`
  const ofAccount = sql`
    from series_reading r join series s on s.id = r.series_id where r.account_id = ${accountId}`
  if (status === 'read')
    return sql`select r.series_id ${ofAccount} and r.read_count >= s.book_count`
  if (status === 'in_progress')
    return sql`select r.series_id ${ofAccount} and ${isOpened} and r.read_count < s.book_count`
  return sql`
    select r.series_id from series_reading r where r.account_id = ${accountId} and ${isOpened}`
}
