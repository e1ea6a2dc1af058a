// What the books of a series say, for series that have no such metadata of their own: authors, years, languages,
// publishers, a summary. Only of the books that the viewer sees.
import { presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import { Author } from '../../metadata/values.ts'
import type { Queryable } from '../../postgres/db.ts'
import { isOneOf } from '../../postgres/ids.ts'
import { list, nullable, record, type Static, Type, uuid } from '../../schema.ts'

const maxAuthors = 100
const maxValues = 10

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

/** More series are read by two statements at once: each takes as long as their books. */
const maxSeries = 100

/** By id of the series, whether the viewer sees it or not. */
export async function booksMetadataOf(
  sql: Queryable,
  viewer: Viewer,
  seriesIds: readonly string[],
): Promise<Map<string, BooksMetadata>> {
  if (seriesIds.length === 0) return new Map()
  const half = Math.ceil(seriesIds.length / 2)
  const parts =
    seriesIds.length > maxSeries ? [seriesIds.slice(0, half), seriesIds.slice(half)] : [seriesIds]
  const read = await Promise.all(parts.map(ids => readBooksMetadata(sql, viewer, ids)))
  return new Map(read.flat().map(({ id, ...metadata }) => [id, metadata]))
}

async function readBooksMetadata(sql: Queryable, viewer: Viewer, seriesIds: readonly string[]) {
  const isOfSeries = sql`b.series_id = s.id and ${presentBook(sql)} and ${visibleBook(sql, viewer)}`
  const frequent = (column: 'publisher' | 'language') => sql`array(
    select ${sql(column)} from fact where ${sql(column)} is not null
    group by 1 order by sum(books) desc, 1 limit ${maxValues})`
  // Most books of a series say the same: these are compared before they are taken apart.
  return await sql<(BooksMetadata & { id: string })[]>`
    select s.id, m.*, (
        select jsonb_build_object('text', b.summary, 'bookId', b.id, 'number', b.number)
        from book b where b.summary is not null and ${isOfSeries}
        order by b.number_sort nulls last, b.name_key, b.id limit 1) as summary
    from series s cross join lateral (
      with fact as materialized (
        select b.authors, b.publisher, b.language, count(*) as books,
          min(b.year) filter (where b.year > 0) as first, max(b.year) as last,
          max(b.age_rating) as age
        from book b where ${isOfSeries}
        group by b.authors, b.publisher, b.language)
      select ${frequent('publisher')} as publishers, ${frequent('language')} as languages,
        (select min(first) from fact) as "firstYear",
        (select max(last) from fact where last > 0) as "lastYear",
        (select max(age) from fact) as "ageRating",
        (select coalesce(jsonb_agg(jsonb_build_object(
            'name', name, 'role', role, 'sortName', sort_name) order by place), '[]')
          from (
            select a->>'name' as name, a->>'role' as role, max(a->>'sortName') as sort_name,
              row_number() over (order by sum(books) desc, min(nth), a->>'name') as place
            from fact, jsonb_array_elements(authors) with ordinality as e(a, nth)
            group by a->>'name', a->>'role' order by place limit ${maxAuthors}) c) as authors) m
    where ${isOneOf(sql, sql`s.id`, seriesIds)}`
}
