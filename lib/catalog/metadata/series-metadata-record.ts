// API record of series metadata.
import { type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import { jsonText } from '../../base/json/json-text.ts'
import { component, list, type Static, timestamp, uuid } from '../../base/schema.ts'
import { type ColumnRow, schemasOf } from '../../media/metadata/field.ts'
import { seriesFields } from '../../media/metadata/series-fields.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { Label, loadLabels } from '../label/label.ts'
import { found } from '../owner.ts'
import type { StoredTitle } from './alternate-titles.ts'
import { selectColumns } from './columns.ts'
import {
  ExternalId,
  ExternalLink,
  ExternalRating,
  externalIds,
  externalLinks,
  externalRatings,
} from './external-reference.ts'
import { lockFlagsOf, SeriesLocks, seriesLockFlags } from './field-locks.ts'

export const SeriesMetadata = component('SeriesMetadata', {
  id: uuid({ description: 'Series id.' }),
  seriesId: uuid(),
  ...schemasOf(seriesFields),
  genres: list(Label),
  tags: list(Label),
  externalIds: list(ExternalId),
  externalLinks: list(ExternalLink),
  externalRatings: list(ExternalRating),
  locks: SeriesLocks,
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type SeriesMetadata = Static<typeof SeriesMetadata>

type Row = Omit<ColumnRow<typeof seriesFields>, 'customMetadata'> &
  Pick<SeriesMetadata, 'id' | 'createdAt' | 'updatedAt'> & {
    /** JSON. */
    customMetadata: string | null
    genres: string[]
    tags: string[]
    locks: string[]
  }

/** Metadata by series id, without hidden series. Five statements, four of them in parallel. */
export async function seriesMetadataByIds(
  sql: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, SeriesMetadata>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<Row[]>`
    select s.id, ${selectColumns(sql, seriesFields, 's')}, s.genres, s.tags, s.locks,
      s.created_at as "createdAt", s.updated_at as "updatedAt"
    from series s
    where ${isOneOf(sql, sql`s.id`, ids)} and ${visibleSeries(sql, viewer)}`
  const visibleIds = rows.map(row => row.id)
  const [labels, idsBySeries, ratingsBySeries, linksBySeries] = await Promise.all([
    loadLabels(sql, viewer, rows),
    externalIds(sql, 'series', visibleIds),
    externalRatings(sql, visibleIds),
    externalLinks(sql, 'series', visibleIds),
  ])
  return new Map(
    rows.map(row => {
      const metadata = {
        ...row,
        seriesId: row.id,
        customMetadata: row.customMetadata === null ? null : jsonText(row.customMetadata),
        genres: labels(row, 'genre'),
        tags: labels(row, 'tag'),
        externalIds: idsBySeries.get(row.id) ?? [],
        externalLinks: linksBySeries.get(row.id) ?? [],
        externalRatings: ratingsBySeries.get(row.id) ?? [],
        locks: lockFlagsOf(seriesLockFlags, row.locks),
      }
      return [row.id, metadata]
    }),
  )
}

/** Throws NotFound for an unknown or hidden series. */
export async function seriesMetadata(sql: Queryable, viewer: Viewer, id: string) {
  return found('series', (await seriesMetadataByIds(sql, viewer, [id])).get(id))
}

/** Throws NotFound for an unknown or hidden series. */
export async function alternateTitlesOf(sql: Queryable, viewer: Viewer, seriesId: string) {
  const [row] = await sql<{ titles: StoredTitle[] }[]>`
    select s.alternate_titles as titles from series s
    where s.id = ${seriesId} and ${visibleSeries(sql, viewer)}`
  return found('series', row).titles.map(title => ({ ...title, seriesId }))
}
