// The books of one series in reading order.
import type { Sql } from 'postgres'
import { seesBook, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { oneOff } from '../list/unprepared.ts'
import { requireSeries } from './series-record.ts'

type Asked = {
  seriesId: string
  includeDeleted: boolean
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of a page of the series' books, and how many there are. Throws NotFound for a series that is not seen. */
export async function booksOfSeries(
  sql: Sql,
  viewer: Viewer,
  { seriesId, includeDeleted, page, pageSize }: Asked,
): Promise<{ ids: string[]; total: number }> {
  await requireSeries(sql, viewer, seriesId)
  const [row] = await oneOff(sql<{ ids: string[]; total: number }[]>`
    with own as materialized (
      select b.id, b.number_sort, b.name_key
      from book b
      join series s on s.id = b.series_id
      where b.series_id = ${seriesId} and ${seesBook(sql, viewer)}
        and ${includeDeleted ? sql`true` : sql`b.missing_at is null`}
    )
    select (select count(*) from own)::float8 as total, array(
      select id from own order by number_sort nulls last, name_key, id
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  return row!
}

/** Ids of the books before and after a book; a missing book has no neighbours. Throws NotFound for a book that is not seen. */
export async function neighbours(
  sql: Sql,
  viewer: Viewer,
  bookId: string,
): Promise<{ prev: string | null; next: string | null }> {
  const side = (way: 'before' | 'after') => {
    const than = way === 'after' ? sql`>` : sql`<`
    const down = way === 'after' ? sql`` : sql`desc`
    // Books without a number come last; comparing with null would lose them.
    return sql`(
      select b.id
      from book b
      join series s on s.id = b.series_id
      where b.series_id = o.series_id and b.missing_at is null and o.missing_at is null
        and (b.number_sort is null, coalesce(b.number_sort, 0), b.name_key, b.id)
          ${than} (o.number_sort is null, coalesce(o.number_sort, 0), o.name_key, o.id)
        and ${seesBook(sql, viewer)}
      order by b.number_sort is null ${down}, coalesce(b.number_sort, 0) ${down}, b.name_key ${down}, b.id ${down}
      limit 1)`
  }
  const [row] = await sql<{ prev: string | null; next: string | null }[]>`
    select ${side('before')} as prev, ${side('after')} as next
    from (
      select b.* from book b join series s on s.id = b.series_id
      where b.id = ${bookId} and ${seesBook(sql, viewer)}) o`
  if (!row) throw new NotFound('Book not found')
  return row
}
