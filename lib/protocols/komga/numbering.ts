// Places and numbers of books in their series: the rank, and a number for books without one.
import type { Fragment } from 'postgres'
import { beyondAge, hidesBooks, type Viewer } from '../../accounts/viewer.ts'
import { readingOrder } from '../../catalog/derived/reading-order.ts'
import type { Queryable } from '../../store/postgres/db.ts'

/**
 * Rows `id`, `place` and `number_sort` of the books of these series, including missing ones. Books without a number
 * continue after the highest number. Where volumes come first, numbers repeat: clients, which report how far a series
 * is read by one number, get the place instead.
 */
export function numberedBooks(sql: Queryable, viewer: Viewer, series: Fragment): Fragment {
  const visible = hidesBooks(viewer) ? sql`and (${beyondAge(sql, viewer)}) is not true` : sql``
  return sql`(
    select b.id, (row_number() over reading_order)::integer as place,
      case when b.volume_sort is not null then row_number() over reading_order
        else coalesce(b.number_sort, floor(coalesce(max(b.number_sort) over whole, 0))
          + row_number() over reading_order - count(b.number_sort) over whole) end as number_sort
    from book b
    where b.series_id in (${series}) ${visible}
    window reading_order as (
        partition by b.series_id order by ${readingOrder(sql, 'b')}),
      whole as (partition by b.series_id))`
}
