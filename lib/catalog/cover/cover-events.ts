// What is told of covers: of the books that got another one, and of the series that show one of them.
import type { TransactionSql } from 'postgres'
import { ofBooks, ofSeries, type Told } from '../../event/publish.ts'

// A series whose first books all lack a cover shows that of a later one, of which nothing is told.
const booksTried = 3

/** Events of books that got another cover, and of the series that show one of them. */
export async function coverEvents(
  tx: TransactionSql,
  books: { id: string; libraryId: string; seriesId: string }[],
): Promise<Told[]> {
  if (books.length === 0) return []
  const ids = [...new Set(books.map(book => book.seriesId))]
  // As cover-shown.ts chooses, for a viewer of all.
  const series = await tx<{ id: string; libraryId: string }[]>`
    select s.id, s.library_id as "libraryId"
    from series s
    cross join lateral (
      select coalesce(
        (select id from book
          where id = s.cover_book_id and series_id = s.id and missing_at is null
            and coalesce(custom_cover, cover) is not null),
        (select id from (
            select id, coalesce(custom_cover, cover) as cover, number_sort, name_key
            from book
            where series_id = s.id and missing_at is null
            order by number_sort nulls last, name_key, id
            limit ${booksTried}) b
          where cover is not null
          order by number_sort nulls last, name_key, id
          limit 1)) as id) shown
    where s.id = any(${ids}::uuid[]) and s.custom_cover is null
      and shown.id = any(${books.map(book => book.id)}::uuid[])
    order by s.id`
  return [...ofBooks('cover_updated', books), ...ofSeries('cover_updated', series)]
}
