// Books in reading order: by series title, then by number. A page is located by the running total of
// matching books per series, so only the series on the page are read.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, presentBook, type Viewer } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { unprepared } from '../../postgres/statement.ts'
import { readingOrder } from '../derived/reading-order.ts'
import type { IdPage } from './page.ts'
import { type BookListFilter, type BookPlan, planBooks } from './plan/book-plan.ts'
import type { Direction } from './sort.ts'

type ListRequest = BookListFilter & { direction: Direction; page: number; pageSize: number }

/** As listBooks. */
export async function listBooksBySeries(
  sql: Sql,
  viewer: Viewer,
  request: ListRequest,
): Promise<IdPage> {
  const { filter, libraryId, seriesId, includeDeleted, page, pageSize: limit } = request
  const isWhole = !filter && !libraryId && !seriesId && !includeDeleted
  const plan =
    isWhole && isUnrestricted(viewer)
      ? null
      : await planBooks(sql, viewer, { ...request, withSortKey: true })
  const offset = (page - 1) * limit
  const isDescending = request.direction === 'desc'
  const seriesOrder = isDescending ? sql`m.sort_key desc, m.id desc` : sql`m.sort_key, m.id`
  const [row] = await unprepared(sql<IdPage[]>`
    with ${plan ? sql`${plan.ctes},` : sql``} placed as materialized (
      select m.*,
        sum(m.match_count) over (order by ${seriesOrder} rows unbounded preceding) - m.match_count as place
      from (${plan ? countedSeries(sql, plan) : allSeries(sql)}) m
    ), on_page as materialized (
      select * from placed m
      where match_count > 0 and place < ${offset + limit}::float8
        and place + match_count > ${offset}::float8
    )
    select coalesce((select sum(match_count) from placed), 0)::float8 as total, array(
      select b.id from on_page m
      cross join lateral (
        select b.id, b.volume_sort, b.number_sort, b.name_key from book b
        where b.series_id = m.id and (
          ${presentBook(sql)} and (m.is_complete or ${plan ? plan.exact : sql`true`})
          or ${plan?.missing ? sql`m.has_missing and ${plan.missing}` : sql`false`})
        offset 0) b
      order by ${seriesOrder}, ${readingOrder(sql, 'b', request.direction)}
      limit ${limit} offset ${offset}::float8 - (select min(place) from on_page)) as ids`)
  return row!
}

/** All series with present books: columns of the index series_by_title. */
function allSeries(sql: Queryable): Fragment {
  return sql`
    select s.id, s.sort_key, s.book_count as match_count, true as is_complete
    from series s where s.book_count > 0`
}

function countedSeries(sql: Queryable, { exact, missing }: BookPlan): Fragment {
  const present = sql`
    select m.id, m.sort_key, m.is_complete, case when m.is_undecided then (
      select count(*) from book b
      where b.series_id = m.id and ${presentBook(sql)} and ${exact})
      else m.match_count end as match_count
    from matched m`
  if (!missing) return present
  return sql`
    select id, sort_key, bool_or(is_complete) as is_complete, sum(match_count) as match_count,
      bool_or(is_missing) as has_missing
    from (
      select *, false as is_missing from (${present}) m
      union all
      select s.id, s.sort_key, false, count(*), true from book b join scope s on s.id = b.series_id
      where ${missing}
      group by s.id, s.sort_key) m
    group by id, sort_key`
}
