// Backups for administrators: the last results, and one on request. Their content never leaves by the API.
import { basename } from 'node:path'
import { component, list, nullable, Type, timestamp, uuid } from '../../base/schema.ts'
import { respond, route } from '../../http/route.ts'
import { backupFolder } from '../job.ts'
import { backupState, listRecords } from '../records.ts'

const Backup = component('Backup', {
  id: uuid(),
  file: Type.String({ description: 'Name of the file in the folder of backups.' }),
  startedAt: timestamp(),
  endedAt: nullable(timestamp({ description: 'Null while it runs.' })),
  bytes: nullable(Type.Integer()),
  error: nullable(Type.String({ description: 'Why it failed.' })),
})

export const backups = [
  route('GET /admin/backups', {
    operationId: 'listBackups',
    permission: 'SystemAdmin',
    summary: 'List scheduled backups',
    description:
      'Newest first, with the last failures. They cannot be downloaded: they lie in the folder `backup.dir` of the server.',
    responses: {
      200: component('BackupReport', {
        folder: nullable(
          Type.String({
            description:
              'Folder `backup.dir`; null if none is configured: then backups of a schedule fail.',
          }),
        ),
        schedule: Type.String({ description: 'The setting `backup.cron`; empty for none.' }),
        lastSuccessAt: nullable(timestamp()),
        isFailing: Type.Boolean({ description: 'Whether the last backup failed.' }),
        isOverdue: Type.Boolean({
          description: 'Whether a scheduled backup has been missing for six hours.',
        }),
        backups: list(Backup),
      }),
    },
    async handle(_input, { sql, config }) {
      const [state, records] = await Promise.all([backupState(sql), listRecords(sql)])
      return {
        folder: config.backup.dir,
        schedule: state.cron,
        lastSuccessAt: state.lastSuccess?.endedAt ?? null,
        isFailing: state.isFailing,
        isOverdue: state.isOverdue,
        backups: records.map(record => ({ ...record, file: basename(record.file) })),
      }
    },
  }),
  route('POST /admin/backups', {
    operationId: 'createBackup',
    permission: 'SystemAdmin',
    summary: 'Write a backup now',
    description: 'One that is waiting already is not doubled. 400 without a usable `backup.dir`.',
    responses: { 202: component('BackupStarted', { taskId: nullable(uuid()) }) },
    async handle(_input, { sql, queue, config }) {
      backupFolder(config)
      const [taskId = null] = await sql.begin(tx => queue.send(tx, 'backup', [{}], { key: 'all' }))
      return respond(202, { taskId })
    },
  }),
]
