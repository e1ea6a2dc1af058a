// Event pruning: deletes expired events, and the oldest ones beyond the maximum count.
import type { Sql } from 'postgres'
import { fetchSetting } from '../setting/setting.ts'
import { prunedSettingKey } from './event-rows.ts'

const defaultMaxEvents = 5_000_000
const batchSize = 2_000

/**
 * Deletes in small transactions until nothing is left to delete. Returns immediately if another process is
 * already pruning.
 */
export async function pruneEvents(
  sql: Sql,
  { maxEvents = defaultMaxEvents }: { maxEvents?: number } = {},
): Promise<void> {
  const minutes = await fetchSetting(sql, 'events.retention_minutes')
  for (;;) {
    const deleted = await sql.begin(async tx => {
      const [lock] = await tx<{ isOwner: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext('stackroom.event.prune')) as "isOwner"`
      if (!lock!.isOwner) return 0
      // Only examines the first rows: times follow the order of the numbers.
      const [row] = await tx<{ deleted: number }[]>`
        with expired as (
          select number
          from (select number, created_at from event order by number limit ${batchSize}) oldest
          where created_at < now() - make_interval(mins => ${minutes})
            or number <= (select max(number) from event) - ${maxEvents}::bigint
        ), deleted as (
          delete from event
          where number in (select number from expired)
          returning number
        ), recorded as (
          insert into setting (key, value)
          select ${prunedSettingKey}, to_jsonb(max(number)) from deleted having count(*) > 0
          on conflict (key) do update set value = excluded.value, updated_at = now()
        )
        select count(*)::integer as deleted from deleted`
      return row!.deleted
    })
    if (deleted < batchSize) return
  }
}
