// Scheduled backups as the database records them (table backup): the last ones, failed ones too.

import { parseCron } from '../base/cron.ts'
import { newId } from '../base/id.ts'
import type { Sql } from '../store/postgres/db.ts'
import { fetchSetting } from '../store/setting/setting.ts'

export type BackupRecord = {
  id: string
  /** Absolute path. */
  file: string
  startedAt: Date
  /** Null while it runs. */
  endedAt: Date | null
  bytes: number | null
  /** Null if it succeeded or runs. */
  error: string | null
}

const maxFailures = 20
// A backup may take hours to wait for another one, or for a server that is off at night.
const overdueMs = 6 * 3_600_000

export async function beginRecord(sql: Sql, file: string): Promise<string> {
  const id = newId()
  await sql`insert into backup (id, file) values (${id}, ${file})`
  return id
}

export async function endRecord(
  sql: Sql,
  id: string,
  { bytes = null, error = null }: { bytes?: number | null; error?: string | null },
): Promise<void> {
  await sql`update backup set ended_at = now(), bytes = ${bytes}, error = ${error} where id = ${id}`
  await sql`
    delete from backup where id in (
      select id from backup where error is not null order by started_at desc offset ${maxFailures})`
}

/** By their files. */
export const deleteRecords = (sql: Sql, files: string[]) =>
  sql`delete from backup where file = any(${files})`

/** Newest first. */
export const listRecords = (sql: Sql) => sql<BackupRecord[]>`
  select id, file, started_at as "startedAt", ended_at as "endedAt", bytes, error
  from backup order by started_at desc, id`

export type BackupState = {
  cron: string
  lastSuccess: BackupRecord | null
  /** Whether the last backup that ended has failed. */
  isFailing: boolean
  /** Whether a scheduled backup is missing for some hours. */
  isOverdue: boolean
}

export async function backupState(sql: Sql, now = Date.now()): Promise<BackupState> {
  const [records, cron, zone, changed] = await Promise.all([
    listRecords(sql),
    fetchSetting(sql, 'backup.cron'),
    fetchSetting(sql, 'scheduler.timezone'),
    sql<{ at: Date }[]>`select updated_at as at from setting where key = 'backup.cron'`,
  ])
  const ended = records.filter(({ endedAt }) => endedAt !== null)
  const lastSuccess = ended.find(({ error }) => error === null) ?? null
  const since = Math.max(lastSuccess?.startedAt.getTime() ?? 0, changed[0]?.at.getTime() ?? 0)
  const due = cron === '' ? null : parseCron(cron, zone || null).nextRun(new Date(since))
  return {
    cron,
    lastSuccess,
    isFailing: ended[0] !== undefined && ended[0].error !== null,
    isOverdue: due !== null && due.getTime() + overdueMs < now,
  }
}
