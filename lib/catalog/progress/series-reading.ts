// Keeps series_reading: how far accounts are in series, over present books.
import type { Fragment } from 'postgres'
import type { Db } from '../list/filter-sql.ts'

/** Counts anew for all accounts, for series whose books came, went or moved. */
export async function recountReading(tx: Db, seriesIds: string[]): Promise<void> {
  // Writers of progress share the series until they commit: what they write must be seen here.
  await lockSeries(tx, seriesIds)
  await recount(tx, seriesIds, null)
}

/** Keeps others from changing series until the transaction ends; in one order, so that none waits for each other. */
export async function lockSeries(tx: Db, seriesIds: string[]): Promise<void> {
  await tx`select 1 from series where id = any(${seriesIds}) order by id for no key update`
}

/** Counts anew for one account, in the transaction that moved its progress. */
export async function recountReadingOf(
  tx: Db,
  accountId: string,
  seriesIds: string[],
): Promise<void> {
  await recount(tx, seriesIds, accountId)
}

/** What rows of series_reading should be: from progress `p` and book `b` of the series given. */
export function readingOf(sql: Db, series: Fragment, accountId: string | null): Fragment {
  return sql`
    select p.account_id, b.series_id,
      count(*) filter (where p.is_completed)::integer as read_count,
      count(*) filter (where not p.is_completed)::integer as started_count,
      count(*) filter (where not p.is_completed and p.current_page > 0)::integer as opened_count,
      max(p.updated_at) as last_read_at, max(p.completed_at) as last_completed_at
    from book b
    join progress p on p.book_id = b.id
    where b.series_id in (${series}) and b.missing_at is null
      and ${accountId === null ? sql`true` : sql`p.account_id = ${accountId}`}
    group by p.account_id, b.series_id`
}

/** Writes what differs, in the order of the key, so that two of them never wait for each other. */
async function recount(tx: Db, seriesIds: string[], accountId: string | null) {
  if (seriesIds.length === 0) return
  const series = tx`select unnest(${[...new Set(seriesIds)]}::uuid[])`
  const whose = accountId === null ? tx`true` : tx`r.account_id = ${accountId}`
  await tx`
    with now as materialized (${readingOf(tx, series, accountId)}), written as (
      insert into series_reading as r (account_id, series_id, read_count, started_count,
        opened_count, last_read_at, last_completed_at)
      select * from now order by account_id, series_id
      on conflict (account_id, series_id) do update
      set read_count = excluded.read_count, started_count = excluded.started_count,
        opened_count = excluded.opened_count, last_read_at = excluded.last_read_at,
        last_completed_at = excluded.last_completed_at
      where (r.read_count, r.started_count, r.opened_count, r.last_read_at, r.last_completed_at)
        is distinct from (excluded.read_count, excluded.started_count, excluded.opened_count,
          excluded.last_read_at, excluded.last_completed_at)
    )
    delete from series_reading r
    where r.series_id in (${series}) and ${whose}
      and not exists (
        select from now where now.account_id = r.account_id and now.series_id = r.series_id)`
}
