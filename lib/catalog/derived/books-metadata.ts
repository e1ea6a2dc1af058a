// `series_books_metadata`: metadata of a series, aggregated from its present books. Lists of series show it.
import type { Fragment } from 'postgres'
import { beyondAge, presentBook, type Viewer } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'

export const maxAuthors = 100
/** Of each other field. */
export const maxValues = 10

/** Refreshes series whose books were added, removed, moved, rated or described. */
export async function refreshBooksMetadata(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    insert into series_books_metadata as m (series_id, metadata)
    select s.id, ${booksMetadata(tx)} from series s where s.id = any(${seriesIds}) order by s.id
    on conflict (series_id) do update set metadata = excluded.metadata
    where m.metadata <> excluded.metadata`
}

/** The expected value for `series s`, or that of the books that meet a condition on `book b`. */
export function booksMetadata(sql: Queryable, condition: Fragment = sql`true`): Fragment {
  const frequent = (column: 'publisher' | 'language') => sql`array(
    select ${sql(column)} from fact where ${sql(column)} is not null
    group by 1 order by sum(books) desc, 1 limit ${maxValues})`
  // Most books of a series say the same: these are compared before they are taken apart.
  return sql`(
    with fact as materialized (
      select b.authors, b.publisher, b.language, count(*) as books,
        min(b.year) filter (where b.year > 0) as first, max(b.year) as last,
        max(b.age_rating) as age
      from book b where b.series_id = s.id and ${presentBook(sql)} and ${condition}
      group by b.authors, b.publisher, b.language)
    select jsonb_build_object(
      'publishers', ${frequent('publisher')}, 'languages', ${frequent('language')},
      'firstYear', (select min(first) from fact),
      'lastYear', (select max(last) from fact where last > 0),
      'ageRating', (select max(age) from fact),
      'authors', (
        select coalesce(jsonb_agg(jsonb_build_object(
            'name', name, 'role', role, 'sortName', sort_name) order by place), '[]')
        from (
          select a->>'name' as name, a->>'role' as role, max(a->>'sortName') as sort_name,
            row_number() over (order by sum(books) desc, min(nth), a->>'name', a->>'role') as place
          from fact, jsonb_array_elements(authors) with ordinality as e(a, nth)
          group by a->>'name', a->>'role' order by place limit ${maxAuthors}) c)))`
}

/**
 * Joins the `series_books_metadata m` of `series s` if it is valid for the viewer: no refresh of the series is due, and
 * none of its present books is hidden by an age limit.
 */
export function joinBooksMetadata(sql: Queryable, viewer: Viewer): Fragment {
  return sql`
    left join series_books_metadata m on m.series_id = s.id
      and (${beyondAge(sql, viewer, 'm')}) is not true
      and not exists (select from series_refresh o where o.series_id = s.id)`
}
