// A series as it is shown to a viewer: the short form that lists and details share.
import type { Sql, TransactionSql } from 'postgres'
import { NotFound } from '../errors.ts'
import { seriesStatuses } from '../metadata/metadata.ts'
import { count, nullable, oneOf, record, type Static, Type, timestamp, uuid } from '../schema.ts'
import { seesSeries, type Viewer } from './viewer.ts'

export const Series = record(
  {
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
    path: nullable(Type.String({ description: 'Its folder, relative to that of the library.' })),
    bookCount: count({ description: 'Books that are not missing.' }),
    pageCount: count(),
    fileSize: count({ description: 'Bytes of all its books.' }),
    unreadCount: count({ description: 'Books that the caller has not completed.' }),
    readCount: count({ description: 'Books that the caller has completed.' }),
    lastReadAt: nullable(timestamp()),
    hasCustomCover: Type.Boolean(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'Series' },
)
export type Series = Static<typeof Series>

type Db = Sql | TransactionSql

/** The series with these ids in their order; hidden and vanished ones are left out. One statement. */
export async function seriesByIds(
  sql: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Series[]> {
  if (ids.length === 0) return []
  const rows = await sql<Series[]>`
    select s.id, s.library_id as "libraryId", l.name as "libraryName", s.title,
      s.title_sort as "titleSort", s.summary, s.publisher, s.year, s.status, s.language,
      s.age_rating as "ageRating", s.genres, s.tags, s.folder as path, s.book_count as "bookCount",
      s.page_count as "pageCount", s.size as "fileSize",
      greatest(s.book_count - coalesce(r.read_count, 0), 0) as "unreadCount",
      coalesce(r.read_count, 0) as "readCount", r.last_read_at as "lastReadAt",
      s.custom_cover is not null as "hasCustomCover", s.created_at as "createdAt",
      s.updated_at as "updatedAt"
    from unnest(${ids as string[]}::uuid[]) with ordinality as wanted(id, place)
    join series s on s.id = wanted.id
    join library l on l.id = s.library_id
    left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id
    where ${seesSeries(sql, viewer)}
    order by wanted.place`
  return [...rows]
}

/** Throws NotFound for a series that is not there or is hidden from the viewer. */
export async function seriesById(sql: Db, viewer: Viewer, id: string): Promise<Series> {
  const [series] = await seriesByIds(sql, viewer, [id])
  if (!series) throw new NotFound('Series not found')
  return series
}

/** Throws NotFound unless the viewer sees this series. */
export async function requireSeries(sql: Db, viewer: Viewer, id: string): Promise<void> {
  const [row] = await sql`select 1 from series s where s.id = ${id} and ${seesSeries(sql, viewer)}`
  if (!row) throw new NotFound('Series not found')
}
