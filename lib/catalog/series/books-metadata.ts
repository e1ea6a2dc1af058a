// Metadata of a series taken from its books, if it has none of its own: authors, years, languages, publishers, a
// summary. Uses only books that the viewer can see.
import { presentBook, type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { component, list, nullable, record, type Static, Type, uuid } from '../../base/schema.ts'
import { Author } from '../../media/metadata/values.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import {
  booksMetadata,
  joinBooksMetadata,
  maxAuthors,
  maxValues,
} from '../derived/books-metadata.ts'
import { readingOrder } from '../derived/reading-order.ts'

export const BooksMetadata = component(
  'BooksMetadata',
  {
    authors: list(Author, {
      description: `Distinct pairs of name and role, most frequent first, up to ${maxAuthors}.`,
    }),
    publishers: list(Type.String(), {
      description: `Most frequent first, up to ${maxValues}.`,
    }),
    languages: list(Type.String(), {
      description: `Most frequent first, up to ${maxValues}.`,
    }),
    firstYear: nullable(Type.Integer()),
    lastYear: nullable(Type.Integer()),
    ageRating: nullable(Type.Integer({ description: 'Highest age rating.' })),
    summary: nullable(
      record(
        {
          text: Type.String(),
          bookId: uuid(),
          number: nullable(Type.String({ description: 'Number of the book, as written.' })),
        },
        { description: 'Summary of the first book that has one, in reading order.' },
      ),
    ),
  },
  { description: 'Aggregated from the books that are visible to the caller and not missing.' },
)
export type BooksMetadata = Static<typeof BooksMetadata>

type Stored = Omit<BooksMetadata, 'summary'>

/** By series id, without hidden series. */
export async function booksMetadataOf(
  sql: Queryable,
  viewer: Viewer,
  seriesIds: readonly string[],
): Promise<Map<string, BooksMetadata>> {
  if (seriesIds.length === 0) return new Map()
  const isVisible = visibleBook(sql, viewer)
  const rows = await sql<(Pick<BooksMetadata, 'summary'> & { id: string; metadata: Stored })[]>`
    select s.id, coalesce(m.metadata, ${booksMetadata(sql, isVisible)}) as metadata, (
        select jsonb_build_object('text', b.summary, 'bookId', b.id, 'number', b.number)
        from book b
        where b.series_id = s.id and b.summary is not null and ${presentBook(sql)} and ${isVisible}
        order by ${readingOrder(sql, 'b')} limit 1) as summary
    from series s ${joinBooksMetadata(sql, viewer)}
    where ${isOneOf(sql, sql`s.id`, seriesIds)} and ${visibleSeries(sql, viewer)}`
  return new Map(rows.map(({ id, metadata, summary }) => [id, { ...metadata, summary }]))
}
