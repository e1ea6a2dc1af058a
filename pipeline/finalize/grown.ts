// Records when existing series last got new books.
import type { Sql } from '../../lib/store/postgres/db.ts'

/** For the series of books that a scan has added. */
export async function noteGrownSeries(
  sql: Sql,
  { scanId, libraryId }: { scanId: string; libraryId: string },
): Promise<void> {
  // An update marks the lists as changed even if it finds no row.
  const [scan] = await sql`select from scan where id = ${scanId} and added > 0`
  if (!scan) return
  await sql`
    update series s
    set grown_at = added.at
    from (
      select b.series_id, max(b.created_at) as at, min(c.started_at) as "startedAt"
      from scan c
      join book b on b.library_id = ${libraryId} and b.missing_at is null
        and b.created_at >= c.started_at
      where c.id = ${scanId}
      group by b.series_id) added
    where s.id = added.series_id and s.created_at < added."startedAt"
      and s.grown_at is distinct from added.at`
}
