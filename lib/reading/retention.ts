// Retention of the reading ledger: a book's old sittings are combined into one per day, without devices. Totals,
// completed passes and positions do not change.
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { sittingGapMs } from './merge.ts'

/** A sitting that begins on a day ends within eight days: a session lasts at most seven. */
const spanSeconds = 8 * 86_400

/**
 * Combines the sittings that ended before a time, one account after another. Safe to stop and repeat: what is
 * already combined is unchanged. Returns the number of rows that were combined.
 */
export async function combineSittings(
  sql: Sql,
  before: Date,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const accounts = await sql<{ id: string }[]>`select id from account order by id`
  let combined = 0
  for (const { id } of accounts) {
    if (isStopped()) break
    combined += await retryOnDeadlock(sql, tx => combineOfAccount(tx, id, before))
  }
  return combined
}

/**
 * Days are in UTC. Some sittings stay: those that began or completed a pass, because passes are folded from
 * their times; those around the time at which the book was marked as unread, which a combined one would span; and
 * measured ones next to positions that stay, whose inferred time they reduce. Sittings without a position are
 * combined separately, because a position belongs to the time at which it was reached.
 */
async function combineOfAccount(tx: Transaction, accountId: string, before: Date): Promise<number> {
  // Writes of the account also lock its row.
  await tx`select from account where id = ${accountId} for no key update`
  const newest = (column: string) =>
    tx`(array_agg(r.${tx(column)} order by r.ended_at desc, r.id desc))[1]`
  const [row] = await tx<{ combined: number }[]>`
    with eligible as materialized (
      select r.*, (r.started_at at time zone 'UTC')::date as day
      from reading_session r
      where r.account_id = ${accountId} and r.kind in ('progress', 'completed')
        and r.started_at < ${before} and r.ended_at < ${before}
        and r.restarted_at = '{}' and r.completed_at = '{}'
        and not exists (
          select from reading_session x
          where x.account_id = ${accountId} and x.book_id = r.book_id and x.kind = 'reset'
            and x.ended_at >= date_trunc('day', r.started_at, 'UTC')
            and x.ended_at < r.started_at + make_interval(secs => ${spanSeconds}))
    ), combined as materialized (
      select ${newest('id')} as id, ${newest('kind')} as kind, ${newest('surface')} as surface,
        ${newest('page')} as page, ${newest('percentage')} as percentage, array_agg(r.id) as ids,
        min(r.started_at) as started_at, max(r.ended_at) as ended_at,
        max(r.recorded_at) as recorded_at, sum(r.measured_ms)::bigint as measured_ms,
        sum(r.inferred_ms)::bigint as inferred_ms, sum(r.pages_read)::integer as pages_read,
        sum(coalesce(r.sittings, (not r.is_part)::integer))::integer as sittings,
        sum(coalesce(r.unmeasured, (not r.is_part and r.measured_ms is null)::integer))::integer
          as unmeasured,
        sum(coalesce(r.unpaged, (not r.is_part and r.pages_read is null)::integer))::integer
          as unpaged
      from eligible r
      where not (r.is_session and r.measured_ms is not null) or not exists (
        select from reading_session x
        where x.account_id = ${accountId} and x.book_id = r.book_id and x.device = r.device
          and not x.is_session and x.kind in ('progress', 'completed')
          and x.started_at <= r.ended_at + make_interval(secs => ${sittingGapMs / 1000})
          and x.ended_at >= r.started_at - make_interval(secs => ${sittingGapMs / 1000})
          and x.id not in (select id from eligible))
      group by r.book_id, r.day, r.page is null
      having bool_or(r.sittings is null)
    ), deleted as (
      delete from reading_session r
      using (select c.id, unnest(c.ids) as part from combined c) p
      where r.account_id = ${accountId} and r.id = p.part and p.part <> p.id
    ), updated as (
      update reading_session r
      set device = null, is_session = true, is_part = false, kind = c.kind, surface = c.surface,
        started_at = c.started_at, ended_at = c.ended_at, recorded_at = c.recorded_at,
        page = c.page, percentage = c.percentage, measured_ms = c.measured_ms,
        inferred_ms = c.inferred_ms, pages_read = c.pages_read, sittings = c.sittings,
        unmeasured = c.unmeasured, unpaged = c.unpaged
      from combined c where r.account_id = ${accountId} and r.id = c.id
    )
    select coalesce(sum(cardinality(ids)), 0)::float8 as combined from combined`
  return row!.combined
}
