// Lists of genres, tags and publishers with their numbers of visible series.
import type { Fragment } from 'postgres'
import { isUnrestricted, unseenSeries, type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import { listNames, type NameListRequest } from '../../list/names/names.ts'
import { isBrowsable, newestSeries } from '../../list/newest-change.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { allOf, unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'
import type { Label, LabelKind } from './label.ts'

type PageRequest = { offset: number; pageSize: number }
type LabelListRequest = Omit<NameListRequest, 'of' | 'role'> & { kind: LabelKind }

/**
 * One page of all genres or tags, and their total. A restricted viewer gets only labels of visible series, in the
 * spelling and with the date of those series.
 */
export async function listLabels(
  db: WithServices,
  viewer: Viewer,
  { kind, ...request }: LabelListRequest,
): Promise<{ data: Label[]; total: number }> {
  const { entries, total } = await listNames(db, viewer, { of: kind, ...request })
  const { sql } = db
  const rows = await sql<Omit<Label, 'seriesCount'>[]>`
    select p.id, ${shownName(sql, viewer, kind)} as name, ${shownDate(sql, viewer)} as "createdAt"
    from label p where p.id = any(${entries.map(({ value }) => value)}::uuid[])`
  const labels = new Map(rows.map(row => [row.id, row]))
  const data = entries.flatMap(({ value, count }) => {
    const label = labels.get(value)
    return label ? [{ ...label, seriesCount: count }] : []
  })
  return { data, total }
}

/**
 * The name of label `p`, in the spelling of the first series that had it; for a restricted viewer, if no visible
 * series uses that spelling, another one that a visible series uses.
 */
function shownName(sql: Sql, viewer: Viewer, kind: LabelKind): Fragment {
  if (isUnrestricted(viewer)) return sql`p.name`
  // Usually the name is visible: series are read until one has it.
  return sql`
    case when cardinality(p.spellings) = 1 then p.name else (
      select u.name
      from (
        select name from unnest(p.spellings) as n(name)
        order by name <> p.name, name collate "C" offset 0) u
      where (
        select true from series_label y
        join series s on s.id = y.series_id
        where y.label_id = p.id and y.is_own and s.book_count > 0 and ${visibleSeries(sql, viewer)}
          and u.name = any(s.${sql(`${kind}s`)})
        limit 1)
      limit 1) end`
}

/** When label `p` was created; for a restricted viewer, when the first visible series with it was created. */
function shownDate(sql: Sql, viewer: Viewer): Fragment {
  if (isUnrestricted(viewer)) return sql`p.created_at`
  // Ids begin with the creation time.
  return sql`(
    select s.created_at from series_label y
    join series s on s.id = y.series_id
    where y.label_id = p.id and y.is_own and s.book_count > 0 and ${visibleSeries(sql, viewer)}
    order by y.series_id limit 1)`
}

/** `updatedAt`: when the newest of its series last changed, in ISO 8601. */
export type LabelEntry = { name: string; seriesCount: number; updatedAt: string }

/** One page of the genres or tags of browsable series, by name, and their total. Counts series for this page only. */
export async function browseLabels(
  sql: Sql,
  viewer: Viewer,
  { kind, offset, pageSize }: PageRequest & { kind: LabelKind },
): Promise<{ data: LabelEntry[]; total: number }> {
  const browsable = allOf(sql, [sql`s.book_count > 0`, isBrowsable(sql, viewer)])
  const [row] = await unprepared(sql<{ data: LabelEntry[]; total: number }[]>`
    with listed as materialized (
      select l.id, l.key collate "C" as key, l.name, l.spellings
      from label l
      where l.kind = ${kind} and (
        select true from series_label y
        where y.label_id = l.id and y.is_own and ${isCounted(sql, isBrowsable(sql, viewer))}
        limit 1)
    ), page as materialized (
      select * from listed order by key, id limit ${pageSize} offset ${offset}
    ), newest as materialized (
      select y.label_id, max(s.updated_at) as at
      from (${newestSeries(sql)}) s
      join series_label y on y.series_id = s.id and y.is_own
      where ${isBrowsable(sql, viewer)}
      group by y.label_id
    )
    select (select count(*) from listed)::float8 as total, coalesce((
      select jsonb_agg(jsonb_build_object('name', ${shownName(sql, viewer, kind)}, 'seriesCount', (
          select count(*) from series_label y
          where y.label_id = p.id and y.is_own and ${isCounted(sql, isBrowsable(sql, viewer))}),
          'updatedAt', coalesce((
            select n.at from newest n where n.label_id = p.id), (
            select max(s.updated_at) from series_label y join series s on s.id = y.series_id
            where y.label_id = p.id and y.is_own and ${browsable})))
        order by p.key, p.id)
      from page p), '[]') as data`)
  return row!
}

/** A condition on `series_label y`: its series has books and meets `isSeen`, a condition on `series s`. */
function isCounted(sql: Sql, isSeen: Fragment): Fragment {
  return sql`((y.series_id in (
    select s.id from series s where s.book_count = 0
    union all
    ${unseenSeries(sql, isSeen)})) is not true)`
}

/** Spellings that differ only in case or accents are one publisher. */
export type Publisher = LabelEntry

/** One page of the publishers of browsable series, each in its most frequent spelling, and their total. */
export async function listPublishers(sql: Sql, viewer: Viewer, { offset, pageSize }: PageRequest) {
  const [row] = await unprepared(sql<{ data: Publisher[]; total: number }[]>`
    with spellings as materialized (
      select s.publisher as name, count(*) as n, max(s.updated_at) as at
      from series s
      where s.book_count > 0 and s.publisher > '' and ${isBrowsable(sql, viewer)}
      group by s.publisher
    ), named as materialized (
      select folded(name) collate "C" as key, sum(n)::float8 as "seriesCount", max(at) as at,
        (array_agg(name order by n desc, name collate "C"))[1] as name
      from spellings group by 1
    )
    select (select count(*) from named)::float8 as total, coalesce((
      select jsonb_agg(
        jsonb_build_object('name', p.name, 'seriesCount', p."seriesCount", 'updatedAt', p.at)
        order by p.key)
      from (select * from named order by key limit ${pageSize} offset ${offset}) p), '[]') as data`)
  return row!
}
