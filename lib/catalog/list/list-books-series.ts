// Books in reading order: series by title, inside a series by number. Found by adding up how many
// books of the list each series has.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, type Viewer } from '../../auth/viewer.ts'
import { type BookPlan, type BooksWanted, planBooks } from './book-plan.ts'
import type { Direction } from './sort.ts'
import { oneOff } from './unprepared.ts'

type Asked = BooksWanted & { direction: Direction; page: number; pageSize: number }
type Listed = { ids: string[]; total: number }

/** As listBooks. Missing books are no part of this order. */
export async function booksBySeries(sql: Sql, viewer: Viewer, asked: Asked): Promise<Listed> {
  const { filter, libraryId, seriesId, page, pageSize: limit } = asked
  const isAll = !filter && !libraryId && !seriesId && isUnrestricted(viewer)
  const plan = isAll
    ? null
    : await planBooks(sql, viewer, { ...asked, includeDeleted: false, withKeys: true })
  const offset = (page - 1) * limit
  const down = asked.direction === 'desc'
  const series = down ? sql`m.sort_key desc, m.id desc` : sql`m.sort_key, m.id`
  const books = down
    ? sql`b.number_sort desc nulls last, b.sort_key desc, b.id desc`
    : sql`b.number_sort nulls last, b.sort_key, b.id`
  const [row] = await oneOff(sql<Listed[]>`
    with ${plan ? sql`${plan.ctes},` : sql``} placed as materialized (
      select m.id, m.sort_key, m.n, m.is_whole,
        sum(m.n) over (order by ${series} rows unbounded preceding) - m.n as place
      from (${plan ? sized(sql, plan) : all(sql)}) m
    ), touched as materialized (
      select * from placed m
      where n > 0 and place < ${offset + limit}::float8 and place + n > ${offset}::float8
    )
    select coalesce((select sum(n) from placed), 0)::float8 as total, array(
      select b.id from touched m
      cross join lateral (
        select b.id, b.number_sort, b.sort_key from book b
        where b.series_id = m.id and b.missing_at is null
          and (m.is_whole or ${plan ? plan.exact : sql`true`})
        offset 0) b
      order by ${series}, ${books}
      limit ${limit} offset ${offset}::float8 - (select min(place) from touched)) as ids`)
  return row!
}

/** All series, in an order and with a count that an index has. */
function all(sql: Sql): Fragment {
  return sql`
    select s.id, s.sort_key, s.book_count as n, true as is_whole
    from series s where s.book_count > 0`
}

function sized(sql: Sql, { exact }: BookPlan): Fragment {
  return sql`
    select m.id, m.sort_key, m.is_whole, case when m.is_open then (
      select count(*) from book b
      where b.series_id = m.id and b.missing_at is null and ${exact}) else m.n end as n
    from m`
}
