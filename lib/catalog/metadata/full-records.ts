// Full records of series and books (`full=true`): the short record with all metadata, loaded with a fixed
// number of statements.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { component, count, list, nullable, type Static, timestamp } from '../../base/schema.ts'
import { AlternateTitle } from '../../media/metadata/values.ts'
import { ReadListNames, readListNames } from '../../organize/grouping/references.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { Book, booksByIds } from '../book/book-record.ts'
import { Label } from '../label/label.ts'
import { found, ownerNotFound } from '../owner.ts'
import { BooksMetadata, booksMetadataOf } from '../series/books-metadata.ts'
import { Series, seriesByIds } from '../series/series-record.ts'
import { BookMetadata, bookMetadataByIds } from './book-metadata-record.ts'
import { ExternalId, ExternalLink, ExternalRating } from './external-reference.ts'
import { SeriesMetadata, seriesMetadataByIds } from './series-metadata-record.ts'

export const SeriesFull = component('SeriesFull', {
  ...Series.properties,
  metadata: SeriesMetadata,
  booksMetadata: BooksMetadata,
  genres: list(Label),
  tags: list(Label),
  alternateTitles: list(AlternateTitle),
  externalIds: list(ExternalId),
  externalLinks: list(ExternalLink),
  externalRatings: list(ExternalRating),
  lastCompletedAt: nullable(timestamp({ description: 'When the caller last completed a book.' })),
})
export type SeriesFull = Static<typeof SeriesFull>

export const BookFull = component('BookFull', {
  ...Book.properties,
  metadata: BookMetadata,
  genres: list(Label),
  tags: list(Label),
  readLists: ReadListNames,
  readCount: count({ description: '1 if the caller has completed the book, otherwise 0.' }),
  lastCompletedAt: nullable(timestamp({ description: 'When the caller last completed the book.' })),
})
export type BookFull = Static<typeof BookFull>

/** Response of GET /books/{id}. */
export const BookDetail = component('BookDetail', {
  book: Book,
  metadata: BookMetadata,
  readLists: ReadListNames,
})
export type BookDetail = Static<typeof BookDetail>

/** Series in the order of the ids, without hidden and deleted ones. At most ten statements, in parallel. */
export async function seriesFull(sql: Sql, viewer: Viewer, ids: readonly string[]) {
  const [series, metadataById, ofBooks, completed] = await Promise.all([
    seriesByIds(sql, viewer, ids),
    seriesMetadataByIds(sql, viewer, ids),
    booksMetadataOf(sql, viewer, ids),
    sql<{ id: string; completedAt: Date | null }[]>`
      select series_id as id, last_completed_at as "completedAt" from series_reading
      where account_id = ${viewer.accountId} and ${isOneOf(sql, sql`series_id`, ids)}`,
  ])
  const lastCompleted = new Map(completed.map(({ id, completedAt }) => [id, completedAt]))
  return series.flatMap(record => {
    const metadata = metadataById.get(record.id)
    const booksMetadata = ofBooks.get(record.id)
    if (!metadata || !booksMetadata) return []
    const { genres, tags, alternateTitles, externalIds, externalLinks, externalRatings } = metadata
    const lastCompletedAt = lastCompleted.get(record.id) ?? null
    const full: SeriesFull = {
      ...{ ...record, metadata, booksMetadata, lastCompletedAt, genres, tags },
      ...{ alternateTitles, externalIds, externalLinks, externalRatings },
    }
    return full
  })
}

/** Books in the order of the ids, without hidden and deleted ones. Four statements, in parallel. */
export async function booksFull(sql: Sql, viewer: Viewer, ids: readonly string[]) {
  const [books, metadataById, readLists] = await Promise.all([
    booksByIds(sql, viewer, ids),
    bookMetadataByIds(sql, viewer, ids),
    readListNames(sql, ids),
  ])
  return books.flatMap(book => {
    const metadata = metadataById.get(book.id)
    if (!metadata) return []
    const { genres, tags } = metadata
    const full: BookFull = {
      ...{ ...book, metadata, genres, tags, readLists: readLists.get(book.id) ?? [] },
      readCount: book.readProgress?.completed ? 1 : 0,
      lastCompletedAt: book.readProgress?.completedAt ?? null,
    }
    return full
  })
}

/** One series in its long form. Throws NotFound. */
export async function findSeriesFull(sql: Sql, viewer: Viewer, id: string): Promise<SeriesFull> {
  return found('series', (await seriesFull(sql, viewer, [id]))[0])
}

/** One book in its long form. Throws NotFound. */
export async function findBookFull(sql: Sql, viewer: Viewer, id: string): Promise<BookFull> {
  return found('book', (await booksFull(sql, viewer, [id]))[0])
}

/** One book with separate metadata. Throws NotFound. */
export async function findBookDetail(sql: Sql, viewer: Viewer, id: string): Promise<BookDetail> {
  const [[book], metadataById, readLists] = await Promise.all([
    booksByIds(sql, viewer, [id]),
    bookMetadataByIds(sql, viewer, [id]),
    readListNames(sql, [id]),
  ])
  const metadata = book && metadataById.get(book.id)
  if (!metadata) throw ownerNotFound('book')
  return { book, metadata, readLists: readLists.get(book.id) ?? [] }
}
