// Schedule slots (table schedule_slot): each time at which a job is due is taken by exactly one process.
import type { Sql } from '../postgres/db.ts'
import type { ScheduledJob } from './plan.ts'

type Schedule = Pick<ScheduledJob, 'cron'>

/** Slots after `after` up to and including `until` (ms since 1970), oldest first. */
export function slotsBetween({ cron }: Schedule, after: number, until: number): Date[] {
  const slots: Date[] = []
  let slot = cron.nextRun(new Date(after))
  for (; slot && slot.getTime() <= until; slot = cron.nextRun(slot)) slots.push(slot)
  return slots
}

/** The time of the next slot in ms since 1970; Infinity if there is none. */
export function nextSlot({ cron }: Schedule, after: number): number {
  return cron.nextRun(new Date(after))?.getTime() ?? Number.POSITIVE_INFINITY
}

/**
 * Takes the slots not yet taken by any process and enqueues the job once for all of them; false if there are
 * none.
 */
export async function takeSlots(sql: Sql, { job, enqueue }: ScheduledJob, slots: Date[]) {
  return await sql.begin(async tx => {
    const { count } = await tx`
      insert into schedule_slot (job, slot)
      select ${job}, slot
      from unnest(${slots.map(slot => slot.toISOString())}::timestamptz[]) as slot
      on conflict do nothing`
    if (count > 0) await enqueue(tx)
    return count > 0
  })
}
