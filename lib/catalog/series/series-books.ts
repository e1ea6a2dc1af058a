// The books of one series in reading order, and the neighbors of a book.
import type { Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { IdPage } from '../../list/sort.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import { readingOrder, readingPlace, reversedReadingOrder } from '../derived/reading-order.ts'
import { found } from '../owner.ts'
import { requireSeries } from './series-record.ts'

type SeriesBooksRequest = {
  seriesId: string
  includeDeleted: boolean
  /** 1-based. */
  page: number
  pageSize: number
}

/** Ids of a page of the visible books of a series, and their number. Throws NotFound for a hidden series. */
export async function booksOfSeries(
  sql: Sql,
  viewer: Viewer,
  { seriesId, includeDeleted, page, pageSize }: SeriesBooksRequest,
): Promise<IdPage> {
  await requireSeries(sql, viewer, seriesId)
  const [row] = await unprepared(sql<IdPage[]>`
    with own as materialized (
      select b.id, b.volume_sort, b.number_sort, b.name_key
      from book b
      join series s on s.id = b.series_id
      where b.series_id = ${seriesId} and ${visibleBook(sql, viewer)}
        and ${includeDeleted ? sql`true` : presentBook(sql)}
    )
    select (select count(*) from own)::float8 as total, array(
      select id from own order by ${readingOrder(sql, 'own')}
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  return row!
}

/** Ids of the visible books before and after a book; a missing book has no neighbors. Throws NotFound for a hidden book. */
export async function neighbors(sql: Sql, viewer: Viewer, bookId: string) {
  const neighbor = (side: 'before' | 'after') => {
    const comparison = side === 'after' ? sql`>` : sql`<`
    const order = side === 'after' ? readingOrder(sql, 'b') : reversedReadingOrder(sql)
    return sql`(
      select b.id
      from book b
      join series s on s.id = b.series_id
      where b.series_id = o.series_id and ${presentBook(sql)} and ${presentBook(sql, 'o')}
        and ${readingPlace(sql, 'b')} ${comparison} ${readingPlace(sql, 'o')}
        and ${visibleBook(sql, viewer)}
      order by ${order}
      limit 1)`
  }
  const [row] = await sql<{ prev: string | null; next: string | null }[]>`
    select ${neighbor('before')} as prev, ${neighbor('after')} as next
    from (
      select b.* from book b join series s on s.id = b.series_id
      where b.id = ${bookId} and ${visibleBook(sql, viewer)}) o`
  return found('book', row)
}
