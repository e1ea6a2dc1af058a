// Deletes events that nobody may still ask for: those beyond their time, and the oldest of too many.
import type { Sql } from 'postgres'
import { storedSetting } from '../setting/setting.ts'
import { prunedKey } from './event-rows.ts'

const mostEvents = 5_000_000
const batch = 2_000

/**
 * Deletes in small transactions until nothing is left to delete; returns at once while another process
 * is at it. `keep`: how many events there may be at most.
 */
export async function pruneEvents(sql: Sql, { keep = mostEvents } = {}): Promise<void> {
  const minutes = await storedSetting(sql, 'events.retention_minutes')
  for (;;) {
    const deleted = await sql.begin(async tx => {
      const [lock] = await tx<{ isMine: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext('stackroom.event.prune')) as "isMine"`
      if (!lock!.isMine) return 0
      // Only the first rows are looked at: their times are in the order of their numbers.
      const [row] = await tx<{ deleted: number }[]>`
        with old as (
          select number
          from (select number, at from event order by number limit ${batch}) first
          where at < now() - make_interval(mins => ${minutes})
            or number <= (select max(number) from event) - ${keep}::bigint
        ), gone as (
          delete from event
          where number in (select number from old)
          returning number
        ), noted as (
          insert into setting (key, value)
          select ${prunedKey}, to_jsonb(max(number)) from gone having count(*) > 0
          on conflict (key) do update set value = excluded.value, updated_at = now()
        )
        select count(*)::integer as deleted from gone`
      return row!.deleted
    })
    if (deleted < batch) return
  }
}
