// Postings of a predicate on series: loaded by one statement.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersions, type Versions } from '../../list-version.ts'
import { seriesMatch } from '../../sql/series-fields.ts'
import { add, emptyBitmap, invert } from '../bitmap.ts'
import { forEachOrdinal } from '../id-table.ts'
import type { LoadedPostings, PostingsRequest } from '../index-schema.ts'
import { idsOf } from '../read-ids.ts'
import type { SeriesSegment } from './series-segment.ts'

/** The positive form of the predicate. */
export async function loadSeriesPostings(
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
