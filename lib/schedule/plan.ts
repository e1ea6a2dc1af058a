// What has a schedule, as libraries and settings say it now.
import type { Cron } from 'croner'
import type { Sql, TransactionSql } from 'postgres'
import { readCron } from '../cron.ts'
import type { Log } from '../log.ts'
import type { Queue } from '../queue/queue.ts'
import { settingRows } from '../setting/setting.ts'
import { scanUnlessBusy } from './scan.ts'

export type Planned = {
  /** Names its slots, over all processes. */
  job: string
  cron: Cron
  /** When the schedule became what it is, in ms since 1970: no earlier slot is its own. */
  since: number
  /** Queues the work, in the transaction that takes the slot. */
  queue(tx: TransactionSql): Promise<void>
}

/** Settings that say when something is done, or in which time zone. */
export const plannedBy = [
  'deduplication.cron_schedule',
  'deduplication.enabled',
  'scheduler.timezone',
  'upkeep.cron_schedule',
] as const

type Deps = { sql: Sql; queue: Queue; log: Log }
type Said = {
  job: string
  cron: string
  zone: string | null
  since: number
  queue: Planned['queue']
}

/** All of it; a schedule that means nothing (of an older release) is left out and named in the log. */
export async function readPlan(deps: Deps): Promise<Planned[]> {
  const settings = await readSettings(deps.sql)
  const said = [...settingJobs(deps, settings), ...(await libraryJobs(deps, settings))]
  return said.flatMap(({ job, cron, zone, since, queue }) => {
    try {
      return [{ job, cron: readCron(cron, zone), since, queue }]
    } catch (error) {
      deps.log.warn({ job, cron, zone, reason: String(error) }, 'not a schedule')
      return []
    }
  })
}

type Settings = Awaited<ReturnType<typeof readSettings>>

async function readSettings(sql: Sql) {
  const rows = await settingRows(sql, plannedBy)
  const value = (key: (typeof plannedBy)[number]) => rows.find(row => row.key === key)!.value
  return {
    zone: String(value('scheduler.timezone')) || null,
    deduplication: value('deduplication.enabled')
      ? String(value('deduplication.cron_schedule'))
      : '',
    upkeep: String(value('upkeep.cron_schedule')),
    /** When the last of some settings was changed. */
    since: (...keys: (typeof plannedBy)[number][]) =>
      Math.max(
        ...rows
          .filter(row => keys.some(key => key === row.key))
          .map(row => row.updatedAt.getTime()),
      ),
  }
}

function settingJobs({ queue }: Deps, settings: Settings): Said[] {
  const { zone, since } = settings
  const jobs: Said[] = [
    {
      job: 'deduplication',
      cron: settings.deduplication,
      zone,
      since: since('deduplication.cron_schedule', 'deduplication.enabled', 'scheduler.timezone'),
      queue: async tx => void (await queue.send(tx, 'dedupe', [{}], { key: 'all' })),
    },
    {
      job: 'upkeep',
      cron: settings.upkeep,
      zone,
      since: since('upkeep.cron_schedule', 'scheduler.timezone'),
      queue: async tx => void (await queue.send(tx, 'upkeep', [{}], { key: 'all' })),
    },
  ]
  return jobs.filter(({ cron }) => cron !== '')
}

async function libraryJobs({ sql, queue }: Deps, settings: Settings): Promise<Said[]> {
  type Row = { id: string; cron: string; zone: string | null; mode: 'normal' | 'deep'; since: Date }
  const rows = await sql<Row[]>`
    select id, scanning_config->>'cronSchedule' as cron, scanning_config->>'cronTimezone' as zone,
      coalesce(scanning_config->>'scanMode', 'normal') as mode, scheduled_at as since
    from library
    where is_active and deleting_at is null
      and scanning_config->>'enabled' = 'true' and scanning_config->>'cronSchedule' <> ''
    order by id`
  return rows.map(({ id, cron, zone, mode, since }) => ({
    job: `scan ${id}`,
    cron,
    zone: zone ?? settings.zone,
    since: zone ? since.getTime() : Math.max(since.getTime(), settings.since('scheduler.timezone')),
    // A library that is polled is scanned most of the time; its slots must not be lost to that.
    queue: tx => scanUnlessBusy(tx, queue, { libraryId: id, mode, butWatching: true }),
  }))
}
