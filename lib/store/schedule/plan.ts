// Schedule: jobs that settings, libraries and release sources plan with cron expressions.
import type { Cron } from 'croner'
import { parseCron } from '../../base/cron.ts'
import type { Log } from '../../base/log.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
import type { Queue } from '../queue/queue.ts'
import { listSettings } from '../setting/setting.ts'
import { enqueueScanUnlessBusy } from './scan.ts'

export type ScheduledJob = {
  /** Identifies its slots in all processes. */
  job: string
  cron: Cron
  /** When the schedule was last changed, in ms since 1970; earlier slots do not count. */
  since: number
  /** Enqueues the job in the transaction that takes the slot. */
  enqueue(tx: Transaction): Promise<void>
}

/** Settings that the schedule depends on. */
export const scheduleSettings = [
  'backup.cron',
  'deduplication.cron_schedule',
  'deduplication.enabled',
  'scheduler.timezone',
  'maintenance.cron_schedule',
  'release_tracking.default_cron_schedule',
] as const

type Deps = { sql: Sql; queue: Queue; log: Log }
type UnparsedJob = Omit<ScheduledJob, 'cron'> & { cron: string; zone: string | null }

/** All scheduled jobs. Jobs with an invalid expression are logged and omitted. */
export async function readSchedule(deps: Deps): Promise<ScheduledJob[]> {
  const settings = await readSettings(deps.sql)
  const jobs = [
    ...settingJobs(deps, settings),
    ...(await libraryJobs(deps, settings)),
    ...(await releaseJobs(deps, settings)),
  ]
  return jobs.flatMap(({ job, cron, zone, since, enqueue }) => {
    try {
      return [{ job, cron: parseCron(cron, zone), since, enqueue }]
    } catch (error) {
      deps.log.warn({ job, cron, zone, reason: String(error) }, 'invalid schedule')
      return []
    }
  })
}

type Settings = Awaited<ReturnType<typeof readSettings>>

async function readSettings(sql: Sql) {
  const rows = await listSettings(sql, scheduleSettings)
  const value = (key: (typeof scheduleSettings)[number]) => rows.find(row => row.key === key)!.value
  return {
    zone: String(value('scheduler.timezone')) || null,
    deduplication: value('deduplication.enabled')
      ? String(value('deduplication.cron_schedule'))
      : '',
    backup: String(value('backup.cron')),
    maintenance: String(value('maintenance.cron_schedule')),
    releases: String(value('release_tracking.default_cron_schedule')),
    /** When any of these settings was last changed. */
    since: (...keys: (typeof scheduleSettings)[number][]) =>
      Math.max(
        ...rows
          .filter(row => keys.some(key => key === row.key))
          .map(row => row.updatedAt.getTime()),
      ),
  }
}

function settingJobs({ queue }: Deps, settings: Settings): UnparsedJob[] {
  const { zone, since } = settings
  const jobs: UnparsedJob[] = [
    {
      job: 'backup',
      cron: settings.backup,
      zone,
      since: since('backup.cron', 'scheduler.timezone'),
      enqueue: async tx => void (await queue.send(tx, 'backup', [{}], { key: 'all' })),
    },
    {
      job: 'deduplication',
      cron: settings.deduplication,
      zone,
      since: since('deduplication.cron_schedule', 'deduplication.enabled', 'scheduler.timezone'),
      enqueue: async tx => void (await queue.send(tx, 'dedupe', [{}], { key: 'all' })),
    },
    {
      job: 'maintenance',
      cron: settings.maintenance,
      zone,
      since: since('maintenance.cron_schedule', 'scheduler.timezone'),
      enqueue: async tx => void (await queue.send(tx, 'maintenance', [{}], { key: 'all' })),
    },
  ]
  return jobs.filter(({ cron }) => cron !== '')
}

async function libraryJobs({ sql, queue }: Deps, settings: Settings): Promise<UnparsedJob[]> {
  type Row = { id: string; cron: string; zone: string | null; mode: 'normal' | 'deep'; since: Date }
  const rows = await sql<Row[]>`
    select id, scanning_config->>'cronSchedule' as cron, scanning_config->>'cronTimezone' as zone,
      coalesce(scanning_config->>'scanMode', 'normal') as mode, schedule_changed_at as since
    from library
    where is_active and deleting_at is null
      and scanning_config->>'enabled' = 'true' and scanning_config->>'cronSchedule' <> ''
    order by id`
  return rows.map(({ id, cron, zone, mode, since }) => ({
    job: `scan ${id}`,
    cron,
    zone: zone ?? settings.zone,
    since: zone ? since.getTime() : Math.max(since.getTime(), settings.since('scheduler.timezone')),
    // A polled library is scanned most of the time; its slots must not be skipped because of that.
    enqueue: tx =>
      enqueueScanUnlessBusy(tx, queue, { libraryId: id, mode, ignoreWatchScans: true }),
  }))
}

async function releaseJobs({ sql, queue }: Deps, settings: Settings): Promise<UnparsedJob[]> {
  const rows = await sql<{ id: string; cron: string | null; since: Date }[]>`
    select r.id, r.cron_schedule as cron, r.schedule_changed_at as since
    from release_source r join source s on s.id = r.source_id
    where r.enabled and s.enabled
    order by r.id`
  const defaultSince = settings.since('release_tracking.default_cron_schedule')
  const zoneSince = settings.since('scheduler.timezone')
  return rows
    .map(({ id, cron, since }) => ({
      job: `poll ${id}`,
      cron: cron ?? settings.releases,
      zone: settings.zone,
      since: Math.max(since.getTime(), zoneSince, cron === null ? defaultSince : 0),
      enqueue: async (tx: Transaction) =>
        void (await queue.send(tx, 'poll', [{ releaseSourceId: id }], { key: id })),
    }))
    .filter(({ cron }) => cron !== '')
}
