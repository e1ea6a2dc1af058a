// `series_reading`: reading counters per account and series, over present books.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'
import { lockSeries } from '../row-locks.ts'

/** Refreshes the counters of all accounts, for series whose books were added, removed or moved. */
export async function refreshSeriesReading(tx: Queryable, seriesIds: string[]): Promise<void> {
  // Transactions that write progress hold a share lock on the series: wait for their writes.
  await lockSeries(tx, seriesIds)
  await writeDifferences(tx, seriesIds, null)
}

/** Refreshes the counters of one account, in the transaction that changed its progress. */
export async function refreshAccountReading(tx: Queryable, accountId: string, seriesIds: string[]) {
  await writeDifferences(tx, seriesIds, accountId)
}

/** The expected rows of series_reading for the given series, for one account or (null) for all. */
export function seriesReadingRows(sql: Queryable, series: Fragment, accountId: string | null) {
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

/** Inserts in key order, so that two transactions do not deadlock. */
async function writeDifferences(tx: Queryable, seriesIds: string[], accountId: string | null) {
  if (seriesIds.length === 0) return
  const series = tx`select unnest(${[...new Set(seriesIds)]}::uuid[])`
  const isOfAccount = accountId === null ? tx`true` : tx`r.account_id = ${accountId}`
  await tx`
    with expected as materialized (${seriesReadingRows(tx, series, accountId)}), written as (
      insert into series_reading as r (account_id, series_id, read_count, started_count,
        opened_count, last_read_at, last_completed_at)
      select * from expected order by account_id, series_id
      on conflict (account_id, series_id) do update
      set read_count = excluded.read_count, started_count = excluded.started_count,
        opened_count = excluded.opened_count, last_read_at = excluded.last_read_at,
        last_completed_at = excluded.last_completed_at
      where (r.read_count, r.started_count, r.opened_count, r.last_read_at, r.last_completed_at)
        is distinct from (excluded.read_count, excluded.started_count, excluded.opened_count,
          excluded.last_read_at, excluded.last_completed_at)
    )
    delete from series_reading r
    where r.series_id in (${series}) and ${isOfAccount}
      and not exists (
        select from expected e where e.account_id = r.account_id and e.series_id = r.series_id)`
}
