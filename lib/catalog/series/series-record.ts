// Series record of the API: the short form, used by lists and details.
import { hidesBooks, presentBeyondAge, type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import {
  component,
  count,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { seriesStatuses } from '../../media/metadata/values.ts'
import { CollectionNames, collectionNames } from '../../organize/grouping/references.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { requestedIds } from '../../store/postgres/ids.ts'
import { mayHideBooks } from '../derived/books-metadata.ts'
import { found } from '../owner.ts'

export const Series = component('Series', {
  id: uuid(),
  libraryId: uuid(),
  libraryName: Type.String(),
  title: Type.String(),
  titleSort: nullable(Type.String()),
  summary: nullable(Type.String()),
  publisher: nullable(Type.String()),
  year: nullable(Type.Integer()),
  status: nullable(oneOf(seriesStatuses)),
  language: nullable(Type.String()),
  ageRating: nullable(Type.Integer()),
  genres: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  path: nullable(
    Type.String({ description: 'Folder of the series, relative to the library folder.' }),
  ),
  bookCount: count({ description: 'Books that are not missing.' }),
  pageCount: count(),
  fileSize: count({ description: 'Size of all books in bytes.' }),
  unreadCount: count({ description: 'Books that the caller has not completed.' }),
  readCount: count({ description: 'Books that the caller has completed.' }),
  lastReadAt: nullable(timestamp()),
  userRating: nullable(Type.Integer({ description: 'Rating by the caller, from 1 to 100.' })),
  wantToRead: Type.Boolean({ description: 'On the want-to-read list of the caller.' }),
  hasCustomCover: Type.Boolean(),
  collections: CollectionNames,
  tracked: Type.Boolean({ description: 'Whether the server looks for new releases.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type Series = Static<typeof Series>

/** The series with these ids, in this order, in one statement; hidden and deleted ones are left out. */
export async function seriesByIds(sql: Queryable, viewer: Viewer, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await sql<Series[]>`
    select s.id, s.library_id as "libraryId", l.name as "libraryName", s.title,
      s.title_sort as "titleSort", s.summary, s.publisher, s.year, s.status, s.language,
      s.age_rating as "ageRating", s.genres, s.tags, s.folder as path, n."bookCount",
      n."pageCount", n."fileSize", greatest(n."bookCount" - n."readCount", 0) as "unreadCount",
      n."readCount", r.last_read_at as "lastReadAt", u.rating as "userRating",
      w.id is not null as "wantToRead",
      s.custom_cover is not null as "hasCustomCover", ${collectionNames(sql, viewer)} as collections, coalesce(k.tracked, false) as tracked, s.created_at as "createdAt",
      s.updated_at as "updatedAt"
    from ${requestedIds(sql, ids)}
    join series s on s.id = requested.id
    join library l on l.id = s.library_id
    left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id
    left join user_rating u on u.account_id = ${viewer.accountId} and u.series_id = s.id
    left join want_to_read w on w.account_id = ${viewer.accountId} and w.series_id = s.id
    left join series_tracking k on k.series_id = s.id
    cross join lateral ${visibleCounters(sql, viewer)} n
    where ${visibleSeries(sql, viewer)}
    order by requested.place`
  return [...rows]
}

/** Counters of `series s` with its `series_reading r`: the stored ones minus what an age limit hides. */
function visibleCounters(sql: Queryable, viewer: Viewer) {
  if (!hidesBooks(viewer))
    return sql`(
      select s.book_count as "bookCount", s.page_count as "pageCount", s.size as "fileSize",
        coalesce(r.read_count, 0) as "readCount")`
  return sql`(
    select s.book_count - count(b.id) as "bookCount",
      s.page_count - coalesce(sum(b.page_count), 0)::bigint as "pageCount",
      s.size - coalesce(sum(b.size), 0)::bigint as "fileSize",
      greatest(coalesce(r.read_count, 0) - count(*) filter (where p.is_completed), 0) as "readCount"
    from book b
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where ${mayHideBooks(sql, viewer)} and b.series_id = s.id and ${presentBeyondAge(sql, viewer)})`
}

/** Throws NotFound for an unknown or hidden series. */
export async function seriesById(sql: Queryable, viewer: Viewer, id: string): Promise<Series> {
  return found('series', (await seriesByIds(sql, viewer, [id]))[0])
}

/** Throws NotFound unless the series is visible. */
export async function requireSeries(sql: Queryable, viewer: Viewer, id: string): Promise<void> {
  const [row] = await sql`
    select 1 from series s where s.id = ${id} and ${visibleSeries(sql, viewer)}`
  found('series', row)
}
