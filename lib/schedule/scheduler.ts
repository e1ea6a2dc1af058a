// Does at its time what has a schedule: scans of libraries, the search for duplicates, upkeep. Every
// process runs one; whoever takes a slot first (table schedule_slot) queues the work.
import type { Sql } from 'postgres'
import { openBell } from '../async/wakeup.ts'
import { readCron } from '../cron.ts'
import type { Log } from '../log.ts'
import type { Queue } from '../queue/queue.ts'
import { onSetting } from '../setting/setting.ts'
import { type Planned, plannedBy, readPlan } from './plan.ts'
import { nextSlot, slotsOf, takeSlots } from './slot.ts'

export type Scheduler = { close(): Promise<void> }

export type SchedulerDeps = {
  sql: Sql
  queue: Queue
  log: Log
  /** Done every minute by one of the processes. */
  everyMinute?: () => Promise<unknown>
  /** ms since 1970. */
  clock?: () => number
}

// A slot that comes while the only process starts again is made up for.
const lookBackMs = 10 * 60_000
// Clocks are set, and laptops sleep: no timer runs longer.
const longestMs = 60_000

/** Follows changes of schedules and settings until it is closed. */
export async function startScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { sql } = deps
  const bell = openBell()
  let isStale = true
  let isClosed = false
  const heard = () => {
    isStale = true
    bell.ring()
  }
  const listening = await sql.listen('schedule', heard, heard)
  const ignoreSettings = await onSetting(sql, plannedBy, heard)
  const table = openTable(deps)

  async function loop() {
    while (!isClosed) {
      const rung = bell.rung()
      const wasStale = isStale
      isStale = false
      if (wasStale && !(await table.read())) isStale = true
      await table.takeDue()
      await bell.heard(isStale ? 1_000 : table.pauseMs(), rung)
    }
  }
  const done = loop()
  return {
    async close() {
      isClosed = true
      bell.ring()
      await done
      await table.close()
      ignoreSettings()
      await listening.unlisten().catch(() => {})
    },
  }
}

/** What is planned, and up to where this process has seen to it. */
function openTable({ everyMinute, clock = Date.now, ...deps }: SchedulerDeps) {
  const { sql, log } = deps
  const doneUntil = new Map<string, number>()
  let planned: Planned[] = []
  let atWork: Promise<unknown> = Promise.resolve()
  const minutely = everyMinute && {
    job: 'minute',
    cron: readCron('* * * * *', 'UTC'),
    since: clock(),
    queue: async () => {},
  }

  /** Answers whether this process was the first at one of them. */
  async function take(one: Planned, now: number): Promise<boolean> {
    const done = doneUntil.get(one.job) ?? 0
    // After a clock was set back that lies ahead; slots that were taken stay taken all the same.
    const after = Math.max(now - lookBackMs, one.since, done > now ? 0 : done)
    const slots = slotsOf(one, after, now)
    const last = slots.at(-1)
    if (!last) return false
    try {
      const isFirst = await takeSlots(sql, one, slots)
      doneUntil.set(one.job, last.getTime())
      return isFirst
    } catch (error) {
      // Within the time that is looked back on, the next minute tries again.
      log.error({ err: error, job: one.job }, 'scheduled work not queued')
      return false
    }
  }

  return {
    /** Answers whether that could be done. */
    read: () =>
      readPlan(deps).then(
        plan => {
          planned = plan
          return true
        },
        error => {
          log.error({ err: error }, 'schedules not read')
          return false
        },
      ),
    async takeDue() {
      const now = clock()
      for (const one of planned)
        if (await take(one, now)) log.info({ job: one.job }, 'scheduled work queued')
      if (minutely && (await take(minutely, now)))
        atWork = everyMinute().catch(error => log.error({ err: error }, 'minute work failed'))
    },
    pauseMs() {
      const now = clock()
      const next = [...planned, ...(minutely ? [minutely] : [])].map(one => nextSlot(one, now))
      return Math.max(0, Math.min(longestMs, ...next.map(at => at - now)))
    },
    close: () => atWork,
  }
}
