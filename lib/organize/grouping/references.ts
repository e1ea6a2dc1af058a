// References to collections of series and read lists of books, as shown in their records.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { component, list, type Static, Type, uuid } from '../../base/schema.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { isShownSeries } from './grouping.ts'

const maxNamed = 20

const GroupingName = component('GroupingName', { id: uuid(), name: Type.String() })
export type GroupingName = Static<typeof GroupingName>

export const CollectionNames = list(GroupingName, {
  description: `Hand-picked collections that contain the series, by name, up to ${maxNamed}.`,
})
export const ReadListNames = list(GroupingName, {
  description: `Read lists that contain the book, by name, up to ${maxNamed}.`,
})

const names = (sql: Queryable, rows: Fragment) => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.name_key, g.id), '[]')
  from (${rows} order by c.name_key, c.id limit ${maxNamed}) g)`

/** An expression on `series s` with the value of `CollectionNames`. */
export function collectionNames(sql: Queryable, viewer: Viewer): Fragment {
  return names(
    sql,
    sql`
      select c.id, c.name, c.name_key
      from collection_series m join collection c on c.id = m.collection_id
      where m.series_id = s.id and c.rule is null and ${isShownSeries(sql, viewer)}`,
  )
}

/** Read lists by book; missing books, and books without any, are left out. */
export async function readListNames(
  sql: Queryable,
  ids: readonly string[],
): Promise<Map<string, GroupingName[]>> {
  const rows = await sql<{ id: string; names: GroupingName[] }[]>`
    select b.id, ${names(
      sql,
      sql`
        select c.id, c.name, c.name_key
        from read_list_book m join read_list c on c.id = m.read_list_id
        where m.book_id = b.id`,
    )} as names
    from book b where ${isOneOf(sql, sql`b.id`, ids)} and b.missing_at is null
      and exists (select from read_list_book m where m.book_id = b.id)`
  return new Map(rows.map(({ id, names }) => [id, names]))
}
