// What the books of a series say, for series that have no such metadata of their own: authors, years, languages,
// publishers, a summary. Only of the books that the viewer sees.
import { presentBook, type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { list, nullable, record, type Static, Type, uuid } from '../../base/schema.ts'
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

export const BooksMetadata = record(
  {
    authors: list(Author, {
      description: `Each pair of name and role once, those of most books first, at most ${maxAuthors}.`,
    }),
    publishers: list(Type.String(), {
      description: `Those of most books first, at most ${maxValues}.`,
    }),
    languages: list(Type.String(), {
      description: `Those of most books first, at most ${maxValues}.`,
    }),
    firstYear: nullable(Type.Integer()),
    lastYear: nullable(Type.Integer()),
    ageRating: nullable(Type.Integer({ description: 'The highest one.' })),
    summary: nullable(
      record(
        {
          text: Type.String(),
          bookId: uuid(),
          number: nullable(Type.String({ description: 'Of the book, as it is written.' })),
        },
        { description: 'Of the first book that has one, in reading order.' },
      ),
    ),
  },
  {
    component: 'BooksMetadata',
    description: 'What the books that are visible to the caller and not missing say.',
  },
)
export type BooksMetadata = Static<typeof BooksMetadata>

type Stored = Omit<BooksMetadata, 'summary'>

/** By id of the series, without hidden ones. */
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
