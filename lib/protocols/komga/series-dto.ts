// Series of the Komga-compatible API.
import {
  hidesBooks,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { pathText } from '../../base/path.ts'
import { component, list, nullable, type Static, Type } from '../../base/schema.ts'
import { readingOrder } from '../../catalog/derived/reading-order.ts'
import type { ReadingDirection, seriesStatuses } from '../../media/metadata/values.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { requestedIds } from '../../store/postgres/ids.ts'
import {
  Author,
  authorsOf,
  bookCounters,
  dateOf,
  directionNames,
  flags,
  locksOf,
  lowerCase,
  type Reader,
  statusName,
  texts,
  times,
  utcSeconds,
  WebLink,
  withLocks,
} from './values.ts'

const SeriesMetadata = component('SeriesMetadataDto', {
  ...withLocks({
    ...texts('status', 'title', 'titleSort', 'summary', 'readingDirection', 'publisher'),
    ageRating: nullable(Type.Integer()),
    language: Type.String(),
    genres: list(Type.String()),
    tags: list(Type.String()),
    totalBookCount: nullable(Type.Integer()),
    sharingLabels: list(Type.String()),
    links: list(WebLink),
    alternateTitles: list(component('AlternateTitleDto', texts('label', 'title'))),
  }),
  ...times('created', 'lastModified'),
})

const BooksMetadata = component('BookMetadataAggregationDto', {
  authors: list(Author),
  tags: list(Type.String()),
  releaseDate: nullable(Type.String({ format: 'date' })),
  ...texts('summary', 'summaryNumber'),
  ...times('created', 'lastModified'),
})

export const SeriesDto = component('SeriesDto', {
  ...texts('id', 'libraryId', 'name', 'url'),
  ...times('created', 'lastModified', 'fileLastModified'),
  ...bookCounters,
  metadata: SeriesMetadata,
  booksMetadata: BooksMetadata,
  ...flags('deleted', 'oneshot'),
})
export type SeriesDto = Static<typeof SeriesDto>

type Row = Pick<SeriesDto, 'id' | 'libraryId' | 'name' | 'deleted' | 'oneshot'> &
  Pick<SeriesDto['metadata'], 'title' | 'ageRating' | 'totalBookCount' | 'alternateTitles'> &
  Pick<SeriesDto['metadata'], 'genres' | 'tags' | 'sharingLabels' | 'links'> &
  Record<'folder' | 'titleSort' | 'summary' | 'publisher' | 'language', string | null> &
  Record<'books' | 'read' | 'opened', number> &
  Record<'modifiedMs' | 'released', number | null> &
  Record<'locks' | 'bookTags', string[]> &
  Record<'createdAt' | 'updatedAt', Date> & {
    root: Buffer
    status: (typeof seriesStatuses)[number]
    direction: ReadingDirection
    authors: { name: string; role: string | null }[]
    first: { summary: string; number: string | null } | null
  }

/** The series with these ids, in this order, in one statement; hidden and deleted ones are left out. */
export async function seriesDtos(
  sql: Queryable,
  { viewer, isAdmin }: Reader,
  ids: readonly string[],
): Promise<SeriesDto[]> {
  if (ids.length === 0) return []
  const rows = await sql<Row[]>`
    select s.id, s.library_id as "libraryId", s.name, l.root, s.folder, s.one_shot as oneshot,
      s.book_count = 0 and s.missing_count > 0 as deleted, s.created_at as "createdAt",
      s.updated_at as "updatedAt", n.books, n.read, n.opened, s.title, s.title_sort as "titleSort",
      s.status, s.summary,
      coalesce(s.reading_direction, l.default_reading_direction) as direction, s.publisher,
      s.age_rating as "ageRating", s.language, s.genres, s.tags,
      s.total_volume_count as "totalBookCount", s.locks,
      (select coalesce(jsonb_agg(jsonb_build_object('label', t->>'label', 'title', t->>'title')), '[]')
        from jsonb_array_elements(s.alternate_titles) t) as "alternateTitles",
      ${isAdmin ? sharingLabels(sql) : sql`'{}'::text[]`} as "sharingLabels",
      (select coalesce(jsonb_agg(jsonb_build_object('label', x.source, 'url', x.url) order by x.source), '[]')
        from external_reference x where x.series_id = s.id and x.kind = 'link') as links,
      m."modifiedMs", m.released, m.authors, m."bookTags", f.first
    from ${requestedIds(sql, ids)}
    join series s on s.id = requested.id
    join library l on l.id = s.library_id
    left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id
    cross join lateral ${counters(sql, viewer)} n
    cross join lateral ${booksMetadata(sql, viewer)} m
    cross join lateral (
      select (
        select jsonb_build_object('summary', b.summary, 'number', b.number) from book b
        where b.series_id = s.id and b.summary is not null and ${ofSeries(sql, viewer)}
        order by ${readingOrder(sql, 'b')} limit 1) as first) f
    where ${visibleSeries(sql, viewer)}
    order by requested.place`
  return rows.map(row => toSeries(row, isAdmin))
}

/** Throws NotFound for an unknown series, or one hidden from the viewer. */
export async function seriesDto(sql: Queryable, reader: Reader, id: string): Promise<SeriesDto> {
  const [series] = await seriesDtos(sql, reader, [id])
  if (!series) throw new NotFound('Series not found')
  return series
}

const sharingLabels = (sql: Queryable) => sql`array(
  select g.name from series_sharing_tag t join sharing_tag g on g.id = t.tag_id
  where t.series_id = s.id order by g.name)`

const ofSeries = (sql: Queryable, viewer: Viewer) =>
  sql`${presentBook(sql)} and ${visibleBook(sql, viewer)}`

/** Counters of `series s` with its `series_reading r`: the stored ones if all books are visible, otherwise counted. */
function counters(sql: Queryable, viewer: Viewer) {
  if (!hidesBooks(viewer))
    return sql`(
      select s.book_count as books, coalesce(r.read_count, 0) as read,
        coalesce(r.opened_count, 0) as opened)`
  return sql`(
    select count(*) as books, count(*) filter (where p.is_completed) as read,
      count(*) filter (where not p.is_completed and p.current_page > 0) as opened
    from book b
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where b.series_id = s.id and ${ofSeries(sql, viewer)})`
}

/** Grouped first, because most books of a series have the same authors and tags. */
function booksMetadata(sql: Queryable, viewer: Viewer) {
  return sql`(
    with credit as materialized (
      select b.authors, b.tags, max(b.modified_ms) as modified_ms,
        min(b.released) filter (where b.year > 0) as released
      from book b where b.series_id = s.id and ${ofSeries(sql, viewer)}
      group by b.authors, b.tags)
    select max(c.modified_ms) as "modifiedMs", min(c.released) as released,
      coalesce((
        select jsonb_agg(distinct jsonb_build_object('name', a->>'name', 'role', a->>'role'))
        from credit k cross join jsonb_array_elements(k.authors) a), '[]') as authors,
      array(select distinct unnest(k.tags) from credit k) as "bookTags"
    from credit c)`
}

function toSeries(row: Row, isAdmin: boolean): SeriesDto {
  const created = utcSeconds(row.createdAt)
  const lastModified = utcSeconds(row.updatedAt)
  const { books, read, opened, released } = row
  return {
    ...{ id: row.id, libraryId: row.libraryId, name: row.name },
    url: isAdmin ? [pathText(row.root), ...(row.folder ? [row.folder] : [])].join('/') : '',
    ...{ created, lastModified },
    fileLastModified: row.modifiedMs === null ? created : utcSeconds(new Date(row.modifiedMs)),
    booksCount: books,
    booksReadCount: read,
    booksUnreadCount: Math.max(0, books - read - opened),
    booksInProgressCount: opened,
    metadata: { ...metadataOf(row), created, lastModified },
    booksMetadata: {
      authors: authorsOf(row.authors),
      tags: lowerCase(row.bookTags),
      releaseDate:
        released === null
          ? null
          : dateOf(Math.floor(released / 10_000), Math.floor(released / 100) % 100, released % 100),
      summary: row.first?.summary ?? '',
      summaryNumber: row.first?.number ?? '',
      ...{ created, lastModified },
    },
    ...{ deleted: row.deleted, oneshot: row.oneshot },
  }
}

const lockNames = {
  ...{ status: 'status', title: 'title', titleSort: 'title_sort', summary: 'summary' },
  ...{ readingDirection: 'reading_direction', publisher: 'publisher', ageRating: 'age_rating' },
  ...{ language: 'language', genres: 'genres', tags: 'tags', links: 'links' },
  ...{ totalBookCount: 'total_volume_count', sharingLabels: 'sharing_labels' },
  alternateTitles: 'alternate_titles',
}

function metadataOf(row: Row): Omit<SeriesDto['metadata'], 'created' | 'lastModified'> {
  const { title, ageRating, totalBookCount, sharingLabels, links, alternateTitles } = row
  return {
    ...locksOf(lockNames, row.locks),
    ...{ title, ageRating, totalBookCount, sharingLabels, links, alternateTitles },
    status: statusName(row.status),
    titleSort: row.titleSort ?? title,
    summary: row.summary ?? '',
    readingDirection: directionNames[row.direction],
    publisher: row.publisher ?? '',
    language: row.language ?? '',
    genres: lowerCase(row.genres),
    tags: lowerCase(row.tags),
  }
}
