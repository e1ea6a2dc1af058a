// Genres and tags as readers browse them: those of series with something to see, by name.
import type { Fragment, Sql } from 'postgres'
import { oneOff } from '../list/one-off.ts'
import { isUnrestricted, itsBooks, seesSeries, type Viewer } from '../viewer.ts'
import type { LabelKind } from './label.ts'

export type LabelShelf = { name: string; seriesCount: number }
type Asked = { kind: LabelKind; offset: number; pageSize: number }

/** One page of the genres or tags by name, and how many there are. Series are counted for that page alone. */
export async function labelShelves(
  sql: Sql,
  viewer: Viewer,
  { kind, offset, pageSize }: Asked,
): Promise<{ data: LabelShelf[]; total: number }> {
  const { made, seen } = seenSeries(sql, viewer)
  const [row] = await oneOff(sql<{ data: LabelShelf[]; total: number }[]>`
    with ${made} shown as materialized (
      select l.id, l.key collate "C" as key, l.name
      from label l
      where l.kind = ${kind} and (
        select true from series_label y where y.label_id = l.id and y.is_own and ${seen} limit 1)
    ), page as materialized (
      select * from shown order by key, id limit ${pageSize} offset ${offset}
    )
    select (select count(*) from shown)::float8 as total, coalesce((
      select jsonb_agg(jsonb_build_object('name', p.name, 'seriesCount', (
          select count(*) from series_label y where y.label_id = p.id and y.is_own and ${seen}))
        order by p.key, p.id)
      from page p), '[]') as data`)
  return row!
}

/** `seen` is on `series_label y`, from a set that is made once: the few that are not seen, or all that are. */
function seenSeries(sql: Sql, viewer: Viewer): { made: Fragment; seen: Fragment } {
  if (isUnrestricted(viewer)) {
    const empty = sql`select s.id from series s where s.book_count = 0`
    return { made: sql``, seen: sql`((y.series_id in (${empty})) is not true)` }
  }
  const { join, shown } = itsBooks(sql, viewer)
  const made = sql`seen as materialized (
    select s.id from series s ${join}
    where s.book_count > 0 and ${seesSeries(sql, viewer)} and ${shown} > 0),`
  return { made, seen: sql`((y.series_id in (select id from seen)) is true)` }
}
