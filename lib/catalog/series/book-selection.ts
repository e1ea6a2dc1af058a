// Faceted selection of the books of one series: by read status and tag, with a count for every other
// choice of either facet.
import type { Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { ReadStatus } from '../../list/fields.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import { readingOrder } from '../derived/reading-order.ts'

export const selectionSorts = ['number', 'newest', 'title'] as const
export type SelectionSort = (typeof selectionSorts)[number]

export type BookSelectionRequest = {
  seriesId: string
  /** Null for any. */
  readStatus: ReadStatus | null
  /** Null for any. All spellings of a name are one tag. */
  tag: string | null
  sort: SelectionSort
  /** 1-based. */
  page: number
  pageSize: number
}

export type BookSelection = {
  ids: string[]
  total: number
  /** Books with the tag, by read status. */
  countByStatus: Record<'all' | ReadStatus, number>
  /** Books of the read status, with or without tags. */
  countWithAnyTag: number
  /** Books of the read status by tag: the series' most frequent tags and the selected one. */
  tags: { name: string; count: number; isSelected: boolean }[]
}

const maxTags = 20

/** Selects from the visible, present books; a hidden series has none. One statement. */
export async function selectBooks(
  sql: Sql,
  viewer: Viewer,
  request: BookSelectionRequest,
): Promise<BookSelection> {
  const { seriesId, readStatus, tag, sort, page, pageSize } = request
  const selectedTag = sql`${tag === null ? null : tag.trim().replace(/\s+/g, ' ')}::text`
  const [row] = await unprepared(sql<BookSelection[]>`
    with own as materialized (
      select b.id, b.volume_sort, b.number_sort, b.name_key, b.sort_key, b.created_at, b.tags,
        case when p.is_completed then 'read' when p.current_page > 0 then 'in_progress'
          else 'unread' end as status
      from book b
      join series s on s.id = b.series_id
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
      where b.series_id = ${seriesId} and ${presentBook(sql)} and ${visibleBook(sql, viewer)}
    ), spelling as materialized (
      select t.tag, folded(btrim(regexp_replace(t.tag, '\\s+', ' ', 'g'))) collate "C" as key
      from (select distinct unnest(tags) as tag from own) t
    ), checked as materialized (
      select o.*, (${readStatus}::text is null or o.status = ${readStatus}) as is_status,
        (${selectedTag} is null
          or o.tags && array(select k.tag from spelling k where k.key = folded(${selectedTag})))
          as has_tag
      from own o
    ), counted as (
      select k.key, min(k.tag) as tag, count(distinct o.id) as total,
        count(distinct o.id) filter (where o.is_status) as n
      from checked o cross join unnest(o.tags) u(tag) join spelling k on k.tag = u.tag
      where k.key <> ''
      group by k.key
    ), ranked as (
      select c.*, row_number() over (order by total desc, key) as place,
        coalesce(key = folded(${selectedTag}), false) as is_selected
      from counted c
    )
    select (select count(*) from checked where is_status and has_tag)::float8 as total,
      (select count(*) from checked where is_status)::float8 as "countWithAnyTag",
      array(
        select k.id from checked k where is_status and has_tag
        order by ${orderBy[sort](sql)} limit ${pageSize} offset ${(page - 1) * pageSize}) as ids,
      (select jsonb_build_object('all', count(*),
          'unread', count(*) filter (where status = 'unread'),
          'in_progress', count(*) filter (where status = 'in_progress'),
          'read', count(*) filter (where status = 'read'))
        from checked where has_tag) as "countByStatus",
      (select coalesce(jsonb_agg(jsonb_build_object(
          'name', coalesce(l.name, p.tag), 'count', p.n, 'isSelected', p.is_selected)
          order by p.place), '[]')
        from ranked p
        left join label l on l.kind = 'tag' and l.key = p.key
        where p.place <= ${maxTags} or p.is_selected) as tags`)
  return row!
}

const orderBy = {
  number: (sql: Sql) => readingOrder(sql, 'k'),
  newest: (sql: Sql) => sql`created_at desc, id desc`,
  title: (sql: Sql) => sql`sort_key, id`,
}
