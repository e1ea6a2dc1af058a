// Genres and tags as readers browse them: those of series with something to see, by name.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { every } from '../list/filter-sql.ts'
import { oneOff } from '../list/unprepared.ts'
import type { LabelKind } from './label.ts'

export type LabelShelf = { name: string; seriesCount: number }
type Asked = { kind: LabelKind; offset: number; pageSize: number }

/** One page of the genres or tags by name, and how many there are. Series are counted for that page alone. */
export async function labelShelves(
  sql: Sql,
  viewer: Viewer,
  { kind, offset, pageSize }: Asked,
): Promise<{ data: LabelShelf[]; total: number }> {
  const shown = every(sql, [
    sql`s.book_count > 0`,
    seesSeries(sql, viewer),
    showsBooks(sql, viewer),
  ])
  const [row] = await oneOff(sql<{ data: LabelShelf[]; total: number }[]>`
    with shown as materialized (
      select l.id, l.key collate "C" as key, l.name
      from label l
      where l.kind = ${kind} and (
        select true from series_label y
        where y.label_id = l.id and y.is_own and ${isCounted(sql, viewer, shown)}
        limit 1)
    ), page as materialized (
      select * from shown order by key, id limit ${pageSize} offset ${offset}
    )
    select (select count(*) from shown)::float8 as total, coalesce((
      select jsonb_agg(jsonb_build_object('name', p.name, 'seriesCount', (
          select count(*) from series_label y
          where y.label_id = p.id and y.is_own and ${isCounted(sql, viewer, shown)}))
        order by p.key, p.id)
      from page p), '[]') as data`)
  return row!
}

/** On `series_label y`, by a set that is made once: the few that are not seen, or all that are. */
function isCounted(sql: Sql, viewer: Viewer, shown: Fragment): Fragment {
  return isUnrestricted(viewer)
    ? sql`((y.series_id in (select s.id from series s where s.book_count = 0)) is not true)`
    : sql`((y.series_id in (select s.id from series s where ${shown})) is true)`
}
