// Reading order of the books of a series, used by all lists, feeds and protocols: by number, and first by volume where
// numbers repeat under different volumes. `book.volume_sort` is that volume; if null, only the number counts.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'

/** ORDER BY for books of one series, given an alias or table. Books without a number come last, even in descending order. */
export function readingOrder(sql: Queryable, books: string, direction: 'asc' | 'desc' = 'asc') {
  const b = sql(books)
  return direction === 'desc'
    ? sql`${b}.volume_sort desc nulls last, ${b}.number_sort desc nulls last, ${b}.name_key desc, ${b}.id desc`
    : sql`${b}.volume_sort, ${b}.number_sort, ${b}.name_key, ${b}.id`
}

/** The exact reverse. */
export const reversedReadingOrder = (sql: Queryable): Fragment =>
  sql`b.volume_sort desc, b.number_sort desc, b.name_key desc, b.id desc`

/** The position of a book as a comparable row: a comparison with null would lose books. */
export function readingPlace(sql: Queryable, books: string): Fragment {
  const b = sql(books)
  return sql`(coalesce(${b}.volume_sort, 'infinity'), coalesce(${b}.number_sort, 'infinity'),
    ${b}.name_key, ${b}.id)`
}

/** Refreshes series whose books were added, removed, moved or numbered. */
export async function refreshReadingOrder(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    with changed as (
      select b.id, e.volume_sort
      from ${volumeSorts(tx, sql => sql`series_id = any(${seriesIds})`)} e
      join book b on b.id = e.id
      where b.volume_sort is distinct from e.volume_sort
      order by b.id
      for no key update of b
    )
    update book b set volume_sort = c.volume_sort from changed c where b.id = c.id`
}

/**
 * Rows `id`, `series_id` and the expected `volume_sort` of the books of whole series, including missing ones. A first season
 * is often unmarked: where the lowest volume is 2, books without a volume count as 1. Elsewhere they follow the volumes.
 */
export function volumeSorts(sql: Queryable, where: (sql: Queryable) => Fragment): Fragment {
  return sql`(
    select id, series_id, case
      when bool_or(is_repeated) over (partition by series_id) then coalesce(volume, 'infinity')
      end as volume_sort
    from (
      select id, series_id, volume, min(volume) filter (where is_present) over same
          < max(volume) filter (where is_present) over same as is_repeated
      from (
        select id, series_id, number, number_sort, name_key, missing_at is null as is_present,
          coalesce(volume, case when min(volume) filter (where missing_at is null)
            over (partition by series_id) = 2 then 1 end) as volume
        from book where ${where(sql)}) b
      window same as (partition by series_id, case when number is not null then number_sort end,
        case when number is null or number_sort is null then name_key end)) r)`
}
