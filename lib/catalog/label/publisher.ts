// The publishers of series, by name.
import type { Sql } from 'postgres'
import { seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { oneOff } from '../list/unprepared.ts'

/** A name is one publisher however it is written; `seriesCount` is of the series that the viewer sees. */
export type Publisher = { name: string; seriesCount: number }

/** One page of the publishers of what the viewer sees, each in its most frequent spelling, and how many there are. */
export async function listPublishers(
  sql: Sql,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: Publisher[]; total: number }> {
  const [row] = await oneOff(sql<{ data: Publisher[]; total: number }[]>`
    with spelt as materialized (
      select s.publisher as name, count(*) as n
      from series s
      where s.book_count > 0 and s.publisher > '' and ${seesSeries(sql, viewer)}
        and ${showsBooks(sql, viewer)}
      group by s.publisher
    ), named as materialized (
      select folded(name) collate "C" as key, sum(n)::float8 as "seriesCount",
        (array_agg(name order by n desc, name collate "C"))[1] as name
      from spelt group by 1
    )
    select (select count(*) from named)::float8 as total, coalesce((
      select jsonb_agg(jsonb_build_object('name', name, 'seriesCount', "seriesCount") order by key)
      from (select * from named order by key limit ${pageSize} offset ${offset}) p), '[]') as data`)
  return row!
}
