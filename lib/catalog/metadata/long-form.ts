// Series and books in their long forms (`full=true`): the short ones with all metadata, in a fixed
// number of statements whatever their number.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { count, list, nullable, record, type Static, timestamp } from '../../schema.ts'
import { Book, booksByIds } from '../book/book-record.ts'
import { Label } from '../label/label-record.ts'
import { Series, seriesByIds } from '../series/series-record.ts'
import { BookMetadata, bookMetadataByIds } from './book-metadata-record.ts'
import { ExternalId, ExternalLink } from './external-reference.ts'
import {
  AlternateTitleRecord,
  SeriesMetadata,
  seriesMetadataByIds,
} from './series-metadata-record.ts'

export const SeriesFull = record(
  {
    ...Series.properties,
    metadata: SeriesMetadata,
    genres: list(Label),
    tags: list(Label),
    alternateTitles: list(AlternateTitleRecord),
    externalIds: list(ExternalId),
    externalLinks: list(ExternalLink),
    lastCompletedAt: nullable(timestamp({ description: 'By the caller.' })),
  },
  { component: 'SeriesFull' },
)
export type SeriesFull = Static<typeof SeriesFull>

export const BookFull = record(
  {
    ...Book.properties,
    metadata: BookMetadata,
    genres: list(Label),
    tags: list(Label),
    readCount: count({ description: 'How often the caller has completed it, as far as known.' }),
    lastCompletedAt: nullable(timestamp({ description: 'By the caller.' })),
  },
  { component: 'BookFull' },
)
export type BookFull = Static<typeof BookFull>

/** What GET /books/{id} answers. */
export const BookDetail = record(
  { book: Book, metadata: BookMetadata },
  { component: 'BookDetail' },
)
export type BookDetail = Static<typeof BookDetail>

/** The series with these ids in their order; hidden and vanished ones are left out. Six statements. */
export async function seriesFull(
  sql: Sql,
  viewer: Viewer,
  ids: readonly string[],
): Promise<SeriesFull[]> {
  const series = await seriesByIds(sql, viewer, ids)
  const known = await seriesMetadataByIds(sql, viewer, ids)
  const completed = await sql<{ id: string; at: Date | null }[]>`
    select series_id as id, last_completed_at as at from series_reading
    where account_id = ${viewer.accountId} and series_id = any(${ids as string[]}::uuid[])`
  const lastCompleted = new Map(completed.map(({ id, at }) => [id, at]))
  return series.flatMap(short => {
    const metadata = known.get(short.id)
    if (!metadata) return []
    const { genres, tags, alternateTitles, externalIds, externalLinks } = metadata
    const lists = { genres, tags, alternateTitles, externalIds, externalLinks }
    return [{ ...short, ...lists, metadata, lastCompletedAt: lastCompleted.get(short.id) ?? null }]
  })
}

/** The books with these ids in their order; hidden and vanished ones are left out. Three statements. */
export async function booksFull(
  sql: Sql,
  viewer: Viewer,
  ids: readonly string[],
): Promise<BookFull[]> {
  const books = await booksByIds(sql, viewer, ids)
  const known = await bookMetadataByIds(sql, viewer, ids)
  return books.flatMap(book => {
    const metadata = known.get(book.id)
    if (!metadata) return []
    const { readProgress } = book
    return [
      {
        ...book,
        metadata,
        genres: metadata.genres,
        tags: metadata.tags,
        readCount: readProgress?.completed ? 1 : 0,
        lastCompletedAt: readProgress?.completedAt ?? null,
      },
    ]
  })
}

/** One series, short or long. Throws NotFound. */
export async function seriesDetail(
  sql: Sql,
  viewer: Viewer,
  { id, full }: { id: string; full: boolean },
): Promise<Series | SeriesFull> {
  const [series] = full ? await seriesFull(sql, viewer, [id]) : await seriesByIds(sql, viewer, [id])
  if (!series) throw new NotFound('Series not found')
  return series
}

/** One book: with its metadata beside it, or in its long form. Throws NotFound. */
export async function bookDetail(
  sql: Sql,
  viewer: Viewer,
  { id, full }: { id: string; full: boolean },
): Promise<BookDetail | BookFull> {
  if (full) {
    const [book] = await booksFull(sql, viewer, [id])
    if (book) return book
  } else {
    const [book] = await booksByIds(sql, viewer, [id])
    const metadata = (await bookMetadataByIds(sql, viewer, [id])).get(id)
    if (book && metadata) return { book, metadata }
  }
  throw new NotFound('Book not found')
}
