// The nightly clearing: sessions, slots, tasks, events and scans that nobody needs any more.
import type { Sql } from 'postgres'
import { sweep } from '../../lib/auth/session.ts'
import type { Config } from '../../lib/config/config.ts'
import { pruneEvents } from '../../lib/event/prune.ts'
import type { Log } from '../../lib/log.ts'
import { sweepStreams } from '../../lib/opds/stream-progress.ts'
import { inBatches } from '../../lib/postgres/batch.ts'
import { pruneTasks } from '../../lib/queue/maintenance.ts'
import { storedSetting } from '../../lib/setting/setting.ts'

type Deps = { sql: Sql; config: Pick<Config, 'auth'>; log: Log }

/** Deletes in small steps; after a `stop` it can be begun again at any time. */
export async function upkeep({ sql, config, log }: Deps, stop: () => boolean): Promise<void> {
  const started = Date.now()
  const gone = {
    ...(await sweep({ sql, settings: config.auth }, stop)),
    slots: await inBatches(most => deleteSlots(sql, most), stop),
    tasks: await pruneTasks(sql, stop),
    scans: await pruneScans(sql, stop),
    streams: await sweepStreams(sql, stop),
  }
  if (!stop()) await pruneEvents(sql)
  log.info({ ...gone, ms: Date.now() - started }, 'upkeep done')
}

const deleteSlots = (sql: Sql, most: number) => sql`
  delete from schedule_slot
  where (job, slot) in (
    select job, slot from schedule_slot where slot < now() - interval '2 days' limit ${most})`

/** Scans that ended longer ago than tasks are kept; not the last of a library, nor while its work goes on. */
async function pruneScans(sql: Sql, stop: () => boolean): Promise<number> {
  const days = await storedSetting(sql, 'tasks.retention_days')
  return await inBatches(
    most => sql`
      delete from scan
      where id in (
        select id from scan s
        where finished_at < now() - make_interval(days => ${days})
          and exists (
            select from scan later
            where later.library_id = s.library_id and later.created_at > s.created_at
              and not later.options @> '{"analysis": true}')
          and not exists (
            select from pgboss.job
            where name in ('scan', 'analyze', 'index', 'cover', 'hash') and state < 'completed'
              and data->>'libraryId' = s.library_id::text and data->>'scanId' = s.id::text)
        limit ${most})`,
    stop,
  )
}
