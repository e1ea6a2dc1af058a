// `series_books_metadata`: metadata of a series aggregated from its present books, shown in lists of series. A series
// whose books have age ratings has a row for each rating, so that accounts with an age limit read theirs.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'

export const maxAuthors = 100
/** For each of the other fields. */
export const maxValues = 10

/** Refreshes series whose books were added, removed, moved, rated or described. */
export async function refreshBooksMetadata(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    with expected as (
      select s.id as series_id, e.age_limit, e.metadata
      from series s cross join ${booksMetadataByAge(tx)} e where s.id = any(${seriesIds})),
    outdated as (
      delete from series_books_metadata m where series_id = any(${seriesIds}) and not exists (
        select from expected e where e.series_id = m.series_id and e.age_limit = m.age_limit))
    insert into series_books_metadata as m (series_id, age_limit, metadata)
    select series_id, age_limit, metadata from expected order by series_id, age_limit
    on conflict (series_id, age_limit) do update set metadata = excluded.metadata
    where m.metadata <> excluded.metadata`
}

/** The expected rows of `series s`: a lateral item of `from` with age_limit and metadata. */
export function booksMetadataByAge(sql: Queryable): Fragment {
  const isVisible = sql`(b.age_rating is null or b.age_rating <= age.age_limit)`
  return sql`lateral (
    select age.age_limit, ${booksMetadata(sql, isVisible)} as metadata
    from (
      select 0 as age_limit
      union
      select b.age_rating from book b
      where b.series_id = s.id and ${presentBook(sql)} and b.age_rating > 0) age)`
}

/** Metadata of `series s` from its present books that meet a condition on `book b`. */
export function booksMetadata(sql: Queryable, condition: Fragment): Fragment {
  const frequent = (column: 'publisher' | 'language') => sql`array(
    select ${sql(column)} from fact where ${sql(column)} is not null
    group by 1 order by sum(books) desc, 1 limit ${maxValues})`
  // Most books of a series state the same values, so they are grouped before being unpacked.
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

/** Joins the row `m` of `series s` for the viewer, unless the series is due for a refresh. */
export function joinBooksMetadata(sql: Queryable, { ageLimit }: Viewer): Fragment {
  const isVisible = ageLimit === null ? sql`true` : sql`x.age_limit <= ${ageLimit}`
  return sql`
    left join lateral (
      select x.metadata from series_books_metadata x
      where x.series_id = s.id and ${isVisible}
        and not exists (select from series_refresh o where o.series_id = s.id)
      order by x.age_limit desc limit 1) m on true`
}

/** Whether books of `series s` may be beyond the viewer's age limit: false only if certain. */
export function mayHideBooks(sql: Queryable, { ageLimit }: Viewer): Fragment {
  if (ageLimit === null) return sql`false`
  return sql`coalesce((
    select max(x.age_limit) > ${ageLimit} from series_books_metadata x
    where x.series_id = s.id
      and not exists (select from series_refresh o where o.series_id = s.id)), true)`
}
