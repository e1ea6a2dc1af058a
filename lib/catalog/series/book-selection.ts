// Books of one series chosen by what was read of them and by a tag, and how many there would be
// under every other choice.
import type { Sql } from 'postgres'
import { seesBook, type Viewer } from '../../auth/viewer.ts'
import type { ReadStatus } from '../list/filter-fields.ts'
import { oneOff } from '../list/unprepared.ts'

export const choiceSorts = ['number', 'newest', 'title'] as const
export type ChoiceSort = (typeof choiceSorts)[number]

export type ChoiceAsked = {
  seriesId: string
  /** Null: whatever was read of them. */
  read: ReadStatus | null
  /** Null: whatever their tags. A name is one tag however it is written. */
  tag: string | null
  sort: ChoiceSort
  /** From 1. */
  page: number
  pageSize: number
}

export type Choice = {
  ids: string[]
  total: number
  /** Books with the tag, by what was read of them. */
  byRead: Record<'all' | ReadStatus, number>
  /** Books of the reading status, with any tag or none. */
  anyTag: number
  /** The same by tag: the most frequent tags of the series, and the one that was asked for. */
  tags: { name: string; count: number; isAsked: boolean }[]
}

const mostTags = 20

/** Of the present books that the viewer sees; of a series that is hidden there are none. One statement. */
export async function chooseBooks(sql: Sql, viewer: Viewer, asked: ChoiceAsked): Promise<Choice> {
  const { seriesId, read, tag, sort, page, pageSize } = asked
  const wanted = sql`${tag === null ? null : tag.trim().replace(/\s+/g, ' ')}::text`
  const [row] = await oneOff(sql<Choice[]>`
    with own as materialized (
      select b.id, b.number_sort, b.name_key, b.sort_key, b.created_at, b.tags,
        case when p.is_completed then 'read' when p.current_page > 0 then 'in_progress'
          else 'unread' end as status
      from book b
      join series s on s.id = b.series_id
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
      where b.series_id = ${seriesId} and b.missing_at is null and ${seesBook(sql, viewer)}
    ), spelt as materialized (
      select t.tag, folded(btrim(regexp_replace(t.tag, '\\s+', ' ', 'g'))) collate "C" as key
      from (select distinct unnest(tags) as tag from own) t
    ), chosen as materialized (
      select o.*, (${read}::text is null or o.status = ${read}) as is_status,
        (${wanted} is null or o.tags && array(select k.tag from spelt k where k.key = folded(${wanted})))
          as has_tag
      from own o
    ), counted as (
      select k.key, min(k.tag) as tag, count(distinct o.id) as everywhere,
        count(distinct o.id) filter (where o.is_status) as n
      from chosen o cross join unnest(o.tags) u(tag) join spelt k on k.tag = u.tag
      where k.key <> ''
      group by k.key
    ), placed as (
      select c.*, row_number() over (order by everywhere desc, key) as place,
        coalesce(key = folded(${wanted}), false) as is_asked
      from counted c
    )
    select (select count(*) from chosen where is_status and has_tag)::float8 as total,
      (select count(*) from chosen where is_status)::float8 as "anyTag",
      array(
        select id from chosen where is_status and has_tag
        order by ${orders[sort](sql)} limit ${pageSize} offset ${(page - 1) * pageSize}) as ids,
      (select jsonb_build_object('all', count(*),
          'unread', count(*) filter (where status = 'unread'),
          'in_progress', count(*) filter (where status = 'in_progress'),
          'read', count(*) filter (where status = 'read'))
        from chosen where has_tag) as "byRead",
      (select coalesce(jsonb_agg(jsonb_build_object(
          'name', coalesce(l.name, p.tag), 'count', p.n, 'isAsked', p.is_asked) order by p.place), '[]')
        from placed p
        left join label l on l.kind = 'tag' and l.key = p.key
        where p.place <= ${mostTags} or p.is_asked) as tags`)
  return row!
}

const orders = {
  number: (sql: Sql) => sql`number_sort nulls last, name_key, id`,
  newest: (sql: Sql) => sql`created_at desc, id desc`,
  title: (sql: Sql) => sql`sort_key, id`,
}
