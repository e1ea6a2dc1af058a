// Nightly maintenance: deletes expired sessions, schedule slots, tasks, events, scans, streams and annotations, and
// merges old reading sessions.
import { deleteExpired } from '../../lib/accounts/session.ts'
import type { Log } from '../../lib/base/log.ts'
import { combineListChanges } from '../../lib/list/list-version.ts'
import { deleteStaleStreams } from '../../lib/protocols/opds/stream-progress.ts'
import { forgetDeletions } from '../../lib/reading/annotation/write.ts'
import { combineSittings } from '../../lib/reading/retention.ts'
import type { Config } from '../../lib/store/config/config.ts'
import { pruneEvents } from '../../lib/store/event/prune.ts'
import { deleteInBatches } from '../../lib/store/postgres/batch.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { pruneJobs } from '../../lib/store/queue/maintenance.ts'
import { hasScanJobs } from '../../lib/store/queue/select-jobs.ts'
import { fetchSetting } from '../../lib/store/setting/setting.ts'

type Deps = { sql: Sql; config: Pick<Config, 'auth'>; log: Log }

/** Deletes in small steps; can be stopped and repeated at any time. */
export async function runMaintenance({ sql, config, log }: Deps, isStopped: () => boolean) {
  const startedAt = Date.now()
  const deleted = {
    ...(await deleteExpired({ sql, settings: config.auth }, isStopped)),
    slots: await deleteInBatches(limit => deleteSlots(sql, limit), isStopped),
    tasks: await pruneJobs(sql, isStopped),
    scans: await pruneScans(sql, isStopped),
    streams: await deleteStaleStreams(sql, isStopped),
    annotations: await forgetDeletions(sql, isStopped),
    sittings: await combineOldSittings(sql, isStopped),
  }
  if (!isStopped()) await pruneEvents(sql)
  if (!isStopped()) await combineListChanges(sql)
  log.info({ ...deleted, ms: Date.now() - startedAt }, 'maintenance done')
}

async function combineOldSittings(sql: Sql, isStopped: () => boolean): Promise<number> {
  const days = await fetchSetting(sql, 'reading.retention_days')
  if (days === 0) return 0
  return await combineSittings(sql, new Date(Date.now() - days * 86_400_000), isStopped)
}

const deleteSlots = (sql: Sql, limit: number) => sql`
  delete from schedule_slot
  where (job, slot) in (
    select job, slot from schedule_slot where slot < now() - interval '2 days' limit ${limit})`

/**
 * Deletes scans that ended longer ago than tasks are retained, except a library's last one and those with
 * jobs.
 */
async function pruneScans(sql: Sql, isStopped: () => boolean): Promise<number> {
  const days = await fetchSetting(sql, 'tasks.retention_days')
  const hasJobs = hasScanJobs(sql, ['scan', 'analyze', 'index', 'cover', 'hash'], {
    libraryId: sql`s.library_id`,
    scanId: sql`s.id`,
  })
  return await deleteInBatches(
    limit => sql`
      delete from scan
      where id in (
        select id from scan s
        where finished_at < now() - make_interval(days => ${days})
          and exists (
            select from scan later
            where later.library_id = s.library_id and later.number > s.number
              and not later.options @> '{"analysis": true}')
          and not ${hasJobs}
        limit ${limit})`,
    isStopped,
  )
}
