// Authors of series: their own, otherwise those of their first books.
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { Author } from '../../media/metadata/values.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { readingOrder } from '../derived/reading-order.ts'

/** Enough to name the authors of a series with many books. */
const maxBooks = 3

/** Authors by series id, in one statement; empty lists are left out. */
export async function authorsOfSeries(
  sql: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, Author[]>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; authors: Author[] }[]>`
    select s.id, case when s.authors <> '[]' then s.authors else coalesce((
        select jsonb_agg(a.author order by f.place, a.place)
        from (
          select b.authors, row_number() over () as place from (
            select b.authors from book b
            where b.series_id = s.id and ${presentBook(sql)} and ${visibleBook(sql, viewer)}
            order by ${readingOrder(sql, 'b')} limit ${maxBooks}) b) f,
          jsonb_array_elements(f.authors) with ordinality as a(author, place)), '[]') end as authors
    from series s where ${isOneOf(sql, sql`s.id`, ids)}`
  return new Map(rows.flatMap(({ id, authors }) => (authors.length > 0 ? [[id, authors]] : [])))
}
