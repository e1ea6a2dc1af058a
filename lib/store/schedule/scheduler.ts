// Scheduler for library scans, duplicate search and maintenance. Every process runs one; the first process to
// take a slot enqueues the job.
import { createWakeup } from '../../base/async/wakeup.ts'
import { parseCron } from '../../base/cron.ts'
import type { Log } from '../../base/log.ts'
import { isConnectionLost } from '../postgres/connection-error.ts'
import type { Sql } from '../postgres/db.ts'
import type { Queue } from '../queue/queue.ts'
import { openSettings } from '../setting/setting.ts'
import { readSchedule, type ScheduledJob, scheduleSettings } from './plan.ts'
import { nextSlot, slotsBetween, takeSlots } from './slot.ts'

export type Scheduler = { close(): Promise<void> }

export type SchedulerDeps = {
  sql: Sql
  queue: Queue
  log: Log
  /** Run every minute by one of the processes. */
  everyMinute?: () => Promise<unknown>
  /** Milliseconds since 1970. */
  clock?: () => number
}

// A slot missed during a restart of the only process is made up for.
const lookBackMs = 10 * 60_000
// Clocks are adjusted and laptops sleep, so timers are never longer.
const maxSleepMs = 60_000
const retryMs = 1_000

/** Starts the scheduler; it follows changes to schedules and settings until closed. */
export async function startScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { sql } = deps
  const wakeup = createWakeup()
  let isStale = true
  let isClosed = false
  const invalidate = () => {
    isStale = true
    wakeup.notify()
  }
  const listening = await sql.listen('schedule', invalidate, invalidate)
  const ignoreSettings = await openSettings(sql).onChange(scheduleSettings, invalidate)
  const schedule = openSchedule(deps)

  async function loop() {
    while (!isClosed) {
      const seen = wakeup.notifyCount()
      const wasStale = isStale
      isStale = false
      if (wasStale && !(await schedule.read())) isStale = true
      await schedule.runDue()
      await wakeup.wait(isStale ? retryMs : schedule.sleepMs(), seen)
    }
  }
  const done = loop()
  return {
    async close() {
      isClosed = true
      wakeup.notify()
      await done
      await schedule.close()
      ignoreSettings()
      await listening.unlisten().catch(() => {})
    },
  }
}

/** The scheduled jobs, and the last slot that this process has handled for each. */
function openSchedule({ everyMinute, clock = Date.now, ...deps }: SchedulerDeps) {
  const { sql, log } = deps
  const handledUntil = new Map<string, number>()
  let scheduled: ScheduledJob[] = []
  let running: Promise<unknown> = Promise.resolve()
  const minutely = everyMinute && {
    job: 'minute',
    cron: parseCron('* * * * *', 'UTC'),
    since: clock(),
    enqueue: async () => {},
  }

  /** Returns true if this process was the first to take a slot of the job. */
  async function takeDueSlots(scheduledJob: ScheduledJob, now: number): Promise<boolean> {
    const { job, since } = scheduledJob
    const handled = handledUntil.get(job) ?? 0
    // After the clock was set back `handled` lies ahead; slots already taken stay taken in the table.
    const after = Math.max(now - lookBackMs, since, handled > now ? 0 : handled)
    const slots = slotsBetween(scheduledJob, after, now)
    const last = slots.at(-1)
    if (!last) return false
    try {
      const isFirst = await takeSlots(sql, scheduledJob, slots)
      handledUntil.set(job, last.getTime())
      return isFirst
    } catch (error) {
      // The next loop retries, as long as the slot is within the look-back time.
      const level = isConnectionLost(error) ? 'debug' : 'error'
      log[level]({ err: error, job }, 'scheduled job could not be enqueued')
      return false
    }
  }

  return {
    /** Reads the schedule; false if that failed. */
    read: () =>
      readSchedule(deps).then(
        jobs => {
          scheduled = jobs
          return true
        },
        error => {
          const level = isConnectionLost(error) ? 'debug' : 'error'
          log[level]({ err: error }, 'schedules could not be read')
          return false
        },
      ),
    async runDue() {
      const now = clock()
      for (const job of scheduled)
        if (await takeDueSlots(job, now)) log.info({ job: job.job }, 'scheduled job enqueued')
      if (minutely && (await takeDueSlots(minutely, now)))
        running = everyMinute().catch(error => log.error({ err: error }, 'per-minute job failed'))
    },
    sleepMs() {
      const now = clock()
      const slots = [...scheduled, ...(minutely ? [minutely] : [])].map(job => nextSlot(job, now))
      return Math.max(0, Math.min(maxSleepMs, ...slots.map(slot => slot - now)))
    },
    close: () => running,
  }
}
