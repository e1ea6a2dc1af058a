// Book record of the API: the short form, used by lists and details.
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { pathText } from '../../base/path.ts'
import {
  component,
  count,
  maybe,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { formatNames } from '../../media/format/formats.ts'
import { readingDirections } from '../../media/metadata/values.ts'
import { Progress, progressRecord } from '../../reading/progress/progress-record.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { found } from '../owner.ts'
import {
  fromVisibleBooks,
  joinLibrary,
  joinPossibleArtifact,
  joinProgress,
} from './visible-books.ts'

export const Book = component('Book', {
  id: uuid(),
  libraryId: uuid(),
  libraryName: Type.String(),
  seriesId: uuid(),
  seriesName: Type.String(),
  title: Type.String(),
  titleSort: nullable(Type.String()),
  path: Type.String({ description: 'Relative to the library folder.' }),
  fileFormat: Type.String({
    description: `${formatNames.join(', ')}; otherwise the file extension.`,
  }),
  fileSize: count({ description: 'Bytes.' }),
  fileHash: Type.String({ description: 'SHA-256 in hex; empty until it is computed.' }),
  koreaderHash: nullable(
    Type.String({ description: 'KOReader partial MD5 in hex; null until it is computed.' }),
  ),
  pageCount: count({
    description:
      '0 until the file is analyzed. For an EPUB, the number of 1,024-byte positions, as in its manifest.',
  }),
  number: nullable(Type.Number({ description: 'May be fractional, such as 1.5.' })),
  numberText: nullable(Type.String({ description: 'As written: `1`, `1.5`, `Annual 1`.' })),
  volume: nullable(Type.Number()),
  chapter: nullable(Type.Number()),
  summary: nullable(Type.String()),
  readingDirection: nullable(oneOf(readingDirections)),
  readProgress: nullable(Progress),
  wantToRead: Type.Boolean({ description: 'On the want-to-read list of the caller.' }),
  analysisError: nullable(Type.String()),
  errorCode: nullable(Type.String({ description: 'Stable code for why the file cannot be read.' })),
  deleted: Type.Boolean({ description: 'Whether the last scan found the file missing.' }),
  analyzed: Type.Boolean(),
  hasCover: Type.Boolean(),
  hasCustomCover: Type.Boolean(),
  modifiedAt: maybe(timestamp({ description: 'When the file was modified.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type Book = Static<typeof Book>

type Row = Omit<Book, 'path' | 'readProgress' | 'fileFormat' | 'modifiedAt'> & {
  folder: Buffer
  name: Buffer
  format: string | null
  modifiedMs: number
  accountId: string
  currentPage: number | null
  percentage: number | null
  isCompleted: boolean
  startedAt: Date
  progressAt: Date
  completedAt: Date | null
}

/** The books with these ids, in this order, in one statement; hidden and deleted ones are left out. */
export async function booksByIds(sql: Queryable, viewer: Viewer, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await sql<Row[]>`
    select b.id, b.library_id as "libraryId", l.name as "libraryName", b.series_id as "seriesId",
      s.title as "seriesName", b.title, b.title_sort as "titleSort", d.path as folder, b.name,
      b.format, b.size as "fileSize", encode(b.fingerprint, 'hex') as "koreaderHash", coalesce(encode(a.sha256, 'hex'), '') as "fileHash",
      b.page_count as "pageCount", b.number_sort as number, b.number as "numberText", b.volume,
      b.chapter, b.summary,
      coalesce(b.reading_direction, s.reading_direction, l.default_reading_direction)
        as "readingDirection",
      b.error_message as "analysisError", b.error_code as "errorCode",
      b.missing_at is not null as deleted, b.format is not null as analyzed,
      coalesce(b.custom_cover, a.cover) is not null as "hasCover",
      b.custom_cover is not null as "hasCustomCover", b.modified_ms as "modifiedMs",
      b.created_at as "createdAt", b.updated_at as "updatedAt",
      p.account_id as "accountId", p.current_page as "currentPage", p.percentage,
      p.is_completed as "isCompleted", p.started_at as "startedAt", p.updated_at as "progressAt",
      p.completed_at as "completedAt", w.id is not null as "wantToRead"
    ${fromVisibleBooks(sql, viewer, {
      ids,
      joins: sql`
        ${joinPossibleArtifact(sql)}
        ${joinLibrary(sql)}
        join directory d on d.id = b.directory_id
        ${joinProgress(sql, viewer)}
        left join want_to_read w on w.account_id = ${viewer.accountId} and w.book_id = b.id`,
    })}`
  return rows.map(toBook)
}

/** A book, even a missing one. Throws NotFound for an unknown or hidden book. */
export async function bookById(sql: Queryable, viewer: Viewer, id: string): Promise<Book> {
  return found('book', (await booksByIds(sql, viewer, [id]))[0])
}

/** Throws NotFound unless the book is visible. */
export async function requireBook(sql: Queryable, viewer: Viewer, id: string): Promise<void> {
  const [row] = await sql`
    select 1 from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${visibleBook(sql, viewer)}`
  found('book', row)
}

// Members are listed one by one: `...rest` took longer than reading the row.
function toBook(row: Row): Book {
  const { folder, name, format } = row
  const path = pathText(folder.length > 0 ? Buffer.concat([folder, Buffer.from('/'), name]) : name)
  return {
    id: row.id,
    libraryId: row.libraryId,
    libraryName: row.libraryName,
    seriesId: row.seriesId,
    seriesName: row.seriesName,
    title: row.title,
    titleSort: row.titleSort,
    path,
    fileFormat: format ?? path.slice(path.lastIndexOf('.') + 1).toLowerCase(),
    fileSize: row.fileSize,
    fileHash: row.fileHash,
    koreaderHash: row.koreaderHash,
    pageCount: row.pageCount,
    number: row.number,
    numberText: row.numberText,
    volume: row.volume,
    chapter: row.chapter,
    summary: row.summary,
    readingDirection: row.readingDirection,
    readProgress: row.currentPage === null ? null : progressOf(row, row.currentPage),
    wantToRead: row.wantToRead,
    analysisError: row.analysisError,
    errorCode: row.errorCode,
    deleted: row.deleted,
    analyzed: row.analyzed,
    hasCover: row.hasCover,
    hasCustomCover: row.hasCustomCover,
    modifiedAt: new Date(row.modifiedMs),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

const progressOf = (row: Row, currentPage: number) =>
  progressRecord({
    accountId: row.accountId,
    bookId: row.id,
    currentPage,
    percentage: row.percentage,
    isCompleted: row.isCompleted,
    startedAt: row.startedAt,
    updatedAt: row.progressAt,
    completedAt: row.completedAt,
  })
