// Series that got books after the scan that added them, most recent first.
import { type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import type { IdPage } from '../../list/sort.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { unprepared } from '../../store/postgres/statement.ts'

type GrownRequest = { libraryId?: string | undefined; page: number; pageSize: number }

export async function grownSeries(
  sql: Sql,
  viewer: Viewer,
  { libraryId, page, pageSize }: GrownRequest,
): Promise<IdPage> {
  const [row] = await unprepared(sql<IdPage[]>`
    with grown as materialized (
      select s.id, s.grown_at from series s
      where s.grown_at is not null and s.book_count > 0 and ${visibleSeries(sql, viewer)}
        ${libraryId ? sql`and s.library_id = ${libraryId}` : sql``}
    )
    select (select count(*) from grown)::float8 as total, array(
      select id from grown order by grown_at desc, id desc
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  return row!
}
