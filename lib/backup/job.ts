// Scheduled backups: written by a child process, so that requests do not wait for it. It alone touches the folder,
// which may be on a disk that does not respond.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { Failure, Invalid, NotResponding } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Log } from '../base/log.ts'
import { programFile } from '../base/package.ts'
import type { Config } from '../store/config/config.ts'
import { backupHealth, type MountHealth, mountKey } from '../store/mount/mount-health.ts'
import type { Sql } from '../store/postgres/db.ts'
import type { JobControl } from '../store/queue/job-run.ts'
import { fetchSetting } from '../store/setting/setting.ts'
import { beginRecord, deleteRecords, endRecord, listRecords } from './records.ts'

export type BackupConfig = Pick<Config, 'data_dir' | 'database' | 'secrets' | 'backup'>
/** Absolute paths. `interrupted`: backups that were not completed; `old`: to be deleted after success. */
export type BackupRequest = {
  config: BackupConfig
  file: string
  interrupted: string[]
  old: string[]
}
/** `deleted` are those of `old` that are gone. */
export type BackupReply = { bytes: number; deleted: string[] } | { error: string }

type Deps = { sql: Sql; config: Config; log: Log; health?: MountHealth }

const stopMs = 3_000

const notResponding = 'The folder backup.dir does not respond'

class BackupFailure extends Failure {
  readonly status = 503
}

/** Throws Invalid without the setting. */
export function backupFolder({ backup: { dir } }: Pick<Config, 'backup'>): string {
  if (dir !== null) return dir
  throw new Invalid('backup.dir is not set in the configuration of the server')
}

/** Writes `stackroom-<time>-<id>.backup` into `backup.dir`. Throws Failure with the reason, which is recorded. */
export async function runBackupJob(
  { sql, config, log, health = backupHealth }: Deps,
  { signal }: Pick<JobControl, 'signal'>,
) {
  const records = await listRecords(sql)
  // Only one backup runs at a time.
  const interrupted = records.filter(({ endedAt }) => endedAt === null)
  for (const { id } of interrupted) await endRecord(sql, id, { error: 'It was interrupted' })
  const whole = records.filter(({ endedAt, error }) => endedAt !== null && error === null)
  const keep = await fetchSetting(sql, 'backup.keep')
  const name = `stackroom-${timeName(new Date())}-${newId().slice(-6)}.backup`
  const file = join(config.backup.dir ?? '', name)
  const id = await beginRecord(sql, file)
  const request = {
    config: configOf(config),
    file,
    interrupted: interrupted.map(record => record.file),
    old: whole.slice(keep - 1).map(record => record.file),
  }
  try {
    const folder = mountKey(Buffer.from(backupFolder(config)))
    const write = (hung: AbortSignal) => runInChild(request, AbortSignal.any([signal, hung]))
    const { bytes, deleted } = await health.runThread(folder, write).catch(error => {
      throw error instanceof NotResponding ? new BackupFailure(notResponding) : error
    })
    await endRecord(sql, id, { bytes })
    await deleteRecords(sql, deleted)
    log.info({ file, bytes }, 'backup written')
  } catch (error) {
    await endRecord(sql, id, { error: (error as Error).message })
    throw error
  }
}

/** 2026-11-29T030000Z */
const timeName = (time: Date) => `${time.toISOString().slice(0, 19).replaceAll(':', '')}Z`

// Without functions, which no message can carry.
const configOf = ({ data_dir, database, secrets, backup }: Config): BackupConfig => ({
  data_dir,
  database,
  secrets,
  backup,
})

async function runInChild(request: BackupRequest, signal: AbortSignal) {
  const child = fork(programFile('lib/backup/backup-process'), { stdio: 'inherit', execArgv: [] })
  const { promise, resolve, reject } = Promise.withResolvers<BackupReply>()
  const stop = () => {
    child.kill('SIGTERM')
    // A process that waits for a disk does not end.
    setTimeout(() => {
      child.kill('SIGKILL')
      reject(new BackupFailure('It was interrupted'))
    }, stopMs).unref()
  }
  child.on('message', message => resolve(message as BackupReply))
  child.on('error', reject)
  child.on('exit', (code, name) =>
    reject(new BackupFailure(`The process that writes backups ended (${name ?? code})`)),
  )
  signal.addEventListener('abort', stop, { once: true })
  try {
    child.send(request)
    const reply = await promise
    if ('error' in reply) throw new BackupFailure(reply.error)
    return reply
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
