// Books and pages of the Komga-compatible API.
import type { Fragment } from 'postgres'
import { beyondAge, hidesBooks, type Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { pathText } from '../../base/path.ts'
import { component, count, list, nullable, type Static, Type } from '../../base/schema.ts'
import {
  fromVisibleBooks,
  joinLibrary,
  joinPossibleArtifact,
  joinProgress,
} from '../../catalog/book/visible-books.ts'
import { readingOrder } from '../../catalog/derived/reading-order.ts'
import { type FormatName, isReflowable, stemOf } from '../../media/format/formats.ts'
import type { StoredPage } from '../../page/page-list.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { sizeText } from '../publication/publication.ts'
import {
  Author,
  authorsOf,
  dateOf,
  flag,
  flags,
  locksOf,
  lowerCase,
  mediaStatus,
  mediaTypeOf,
  profileOf,
  type Reader,
  texts,
  times,
  utcSeconds,
  WebLink,
  withLocks,
} from './values.ts'

const Media = component('MediaDto', {
  ...texts('status', 'mediaType'),
  pagesCount: Type.Integer(),
  comment: Type.String(),
  ...flags('epubDivinaCompatible', 'epubIsKepub'),
  mediaProfile: Type.String(),
})

const BookMetadata = component('BookMetadataDto', {
  ...withLocks({
    ...texts('title', 'summary', 'number'),
    numberSort: Type.Number(),
    releaseDate: nullable(Type.String({ format: 'date' })),
    authors: list(Author),
    tags: list(Type.String()),
    isbn: Type.String(),
    links: list(WebLink),
  }),
  ...times('created', 'lastModified'),
})

const ReadProgress = component('ReadProgressDto', {
  page: Type.Integer(),
  completed: flag(),
  ...times('readDate', 'created', 'lastModified'),
  ...texts('deviceId', 'deviceName'),
})

export const BookDto = component('BookDto', {
  ...texts('id', 'seriesId', 'seriesTitle', 'libraryId', 'name', 'url'),
  number: Type.Integer(),
  ...times('created', 'lastModified', 'fileLastModified'),
  sizeBytes: count(),
  size: Type.String(),
  media: Media,
  metadata: BookMetadata,
  readProgress: nullable(ReadProgress),
  deleted: flag(),
  fileHash: Type.String(),
  oneshot: flag(),
})
export type BookDto = Static<typeof BookDto>

type Row = Pick<BookDto, 'id' | 'seriesId' | 'seriesTitle' | 'libraryId' | 'deleted' | 'fileHash'> &
  Pick<BookDto['metadata'], 'title' | 'numberSort' | 'tags' | 'links'> &
  Record<'root' | 'folder' | 'fileName', Buffer> &
  Record<'oneshot' | 'hasPageImages' | 'isCompleted', boolean> &
  Record<'place' | 'pageCount' | 'sizeBytes' | 'modifiedMs', number> &
  Record<'year' | 'month' | 'day' | 'page', number | null> &
  Record<'summary' | 'number' | 'isbn' | 'errorCode' | 'errorMessage', string | null> &
  Record<'createdAt' | 'updatedAt' | 'startedAt' | 'progressAt', Date> & {
    authors: { name: string; role: string | null }[]
    locks: string[]
    format: FormatName | null
  }

/** The books with these ids, in this order, in one statement; hidden and deleted ones are left out, missing ones are not. */
export async function bookDtos(
  sql: Queryable,
  { viewer, isAdmin }: Reader,
  ids: readonly string[],
): Promise<BookDto[]> {
  if (ids.length === 0) return []
  const series = sql`select r.series_id from book r where ${isOneOf(sql, sql`r.id`, ids)}`
  const rows = await sql<Row[]>`
    with place as materialized (
      select * from ${numberedBooks(sql, viewer, series)} n where ${isOneOf(sql, sql`n.id`, ids)}
    )
    select b.id, b.series_id as "seriesId", s.title as "seriesTitle", b.library_id as "libraryId",
      l.root, d.path as folder, b.name as "fileName", s.one_shot as oneshot, place.place, b.title,
      b.summary, b.number, place.number_sort as "numberSort", b.year, b.month, b.day, b.authors,
      b.tags, b.isbn, b.locks, b.format, b.error_code as "errorCode",
      b.error_message as "errorMessage", b.page_count as "pageCount",
      b.page_type is not null as "hasPageImages", b.size as "sizeBytes",
      b.modified_ms as "modifiedMs", b.missing_at is not null as deleted,
      coalesce(encode(a.sha256, 'hex'), '') as "fileHash", b.created_at as "createdAt",
      b.updated_at as "updatedAt", p.current_page as page, p.is_completed as "isCompleted",
      p.started_at as "startedAt", p.updated_at as "progressAt",
      (select coalesce(jsonb_agg(jsonb_build_object('label', x.source, 'url', x.url) order by x.source), '[]')
        from external_reference x where x.book_id = b.id and x.kind = 'link')
      || (select coalesce(jsonb_agg(jsonb_build_object('label', k->>'source', 'url', k->>'url')), '[]')
        from jsonb_array_elements(b.extra_metadata->'links') k) as links
    ${fromVisibleBooks(sql, viewer, {
      ids,
      joins: sql`
        join place on place.id = b.id
        ${joinPossibleArtifact(sql)}
        ${joinLibrary(sql)}
        join directory d on d.id = b.directory_id
        ${joinProgress(sql, viewer)}`,
    })}`
  return rows.map(row => toBook(row, isAdmin))
}

/** Throws NotFound for an unknown book, or one hidden from the viewer. */
export async function bookDto(sql: Queryable, reader: Reader, id: string): Promise<BookDto> {
  const [book] = await bookDtos(sql, reader, [id])
  if (!book) throw new NotFound('Book not found')
  return book
}

function toBook(row: Row, isAdmin: boolean): BookDto {
  const fileName = pathText(row.fileName)
  const path = [row.root, row.folder].filter(part => part.length > 0).map(pathText)
  const created = utcSeconds(row.createdAt)
  const lastModified = utcSeconds(row.updatedAt)
  return {
    ...{ id: row.id, seriesId: row.seriesId, seriesTitle: row.seriesTitle },
    libraryId: row.libraryId,
    name: stemOf(fileName),
    url: isAdmin ? [...path, fileName].join('/') : fileName,
    number: row.place,
    ...{ created, lastModified, fileLastModified: utcSeconds(new Date(row.modifiedMs)) },
    sizeBytes: row.sizeBytes,
    size: sizeText(row.sizeBytes),
    media: mediaOf(row),
    metadata: { ...metadataOf(row), created, lastModified },
    readProgress: progressOf(row),
    ...{ deleted: row.deleted, fileHash: row.fileHash, oneshot: row.oneshot },
  }
}

function mediaOf(row: Row): BookDto['media'] {
  const { format } = row
  const status = mediaStatus(row)
  return {
    status,
    mediaType: format === null ? '' : mediaTypeOf[format],
    pagesCount: row.pageCount,
    comment: row.errorMessage ?? (status === 'ERROR' ? 'The book has no reading order' : ''),
    epubDivinaCompatible: isReflowable(format) && row.hasPageImages,
    epubIsKepub: false,
    mediaProfile: format === null ? '' : profileOf(format),
  }
}

const lockNames = {
  ...{ title: 'title', summary: 'summary', number: 'number', numberSort: 'number' },
  ...{ releaseDate: 'year', authors: 'authors', tags: 'tags', isbn: 'isbn', links: 'links' },
}

function metadataOf(row: Row): Omit<BookDto['metadata'], 'created' | 'lastModified'> {
  return {
    ...locksOf(lockNames, row.locks),
    title: row.title,
    summary: row.summary ?? '',
    number: row.number ?? String(row.numberSort),
    numberSort: row.numberSort,
    releaseDate: dateOf(row.year, row.month, row.day),
    authors: authorsOf(row.authors),
    tags: lowerCase(row.tags),
    isbn: row.isbn ?? '',
    links: row.links,
  }
}

/** Null for a book that was only opened, because it counts as unread. */
function progressOf(row: Row): BookDto['readProgress'] {
  if (row.page === null || (row.page === 0 && !row.isCompleted)) return null
  return {
    page: Math.max(1, row.page),
    completed: row.isCompleted,
    readDate: utcSeconds(row.progressAt),
    created: utcSeconds(row.startedAt),
    lastModified: utcSeconds(row.progressAt),
    ...{ deviceId: '', deviceName: '' },
  }
}

export const PageDto = component('PageDto', {
  number: Type.Integer({ description: 'Page number, starting at 1.' }),
  fileName: Type.String(),
  mediaType: Type.String(),
  width: nullable(Type.Integer()),
  height: nullable(Type.Integer()),
  sizeBytes: nullable(Type.Integer()),
  size: Type.String(),
})
export type PageDto = Static<typeof PageDto>

export const pageDtos = (
  pages: readonly Pick<StoredPage, 'name' | 'mediaType' | 'width' | 'height' | 'bytes'>[],
): PageDto[] =>
  pages.map(({ name, mediaType, width, height, bytes }, i) => ({
    ...{ number: i + 1, fileName: name, mediaType, width, height },
    // Rendered pages have no size in the file.
    ...(bytes > 0 ? { sizeBytes: bytes, size: sizeText(bytes) } : { sizeBytes: null, size: '' }),
  }))

/**
 * Rows `id`, `place` and `number_sort` of the books of these series, including missing ones. Books without a number
 * continue after the highest number. Where volumes come first, numbers repeat: clients, which report how far a series
 * is read by one number, get the place instead.
 */
export function numberedBooks(sql: Queryable, viewer: Viewer, series: Fragment): Fragment {
  const visible = hidesBooks(viewer) ? sql`and (${beyondAge(sql, viewer)}) is not true` : sql``
  return sql`(
    select b.id, (row_number() over reading_order)::integer as place,
      case when b.volume_sort is not null then row_number() over reading_order
        else coalesce(b.number_sort, floor(coalesce(max(b.number_sort) over whole, 0))
          + row_number() over reading_order - count(b.number_sort) over whole) end as number_sort
    from book b
    where b.series_id in (${series}) ${visible}
    window reading_order as (
        partition by b.series_id order by ${readingOrder(sql, 'b')}),
      whole as (partition by b.series_id))`
}
