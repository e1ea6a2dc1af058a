// Slots: the minutes at which something planned is due. Of all processes one takes a slot.
import type { Sql } from 'postgres'
import type { Planned } from './plan.ts'

/** Slots after `after` and not after `until` (ms since 1970), oldest first. */
export function slotsOf({ cron }: Planned, after: number, until: number): Date[] {
  const slots: Date[] = []
  for (let at = cron.nextRun(new Date(after)); at && at.getTime() <= until; at = cron.nextRun(at))
    slots.push(at)
  return slots
}

/** When the next one is; Infinity for never. */
export function nextSlot({ cron }: Planned, after: number): number {
  return cron.nextRun(new Date(after))?.getTime() ?? Number.POSITIVE_INFINITY
}

/** Takes those that no process has taken, and queues the work once for all of them. */
export async function takeSlots(sql: Sql, planned: Planned, slots: Date[]): Promise<boolean> {
  return await sql.begin(async tx => {
    const taken = await tx`
      insert into schedule_slot (job, slot)
      select ${planned.job}, slot
      from unnest(${slots.map(slot => slot.toISOString())}::timestamptz[]) as slot
      on conflict do nothing
      returning slot`
    if (taken.length > 0) await planned.queue(tx)
    return taken.length > 0
  })
}
