// Backup metrics: when the last scheduled one succeeded, and whether one is missing.
import { cachedQuery } from '../store/metrics/cached-query.ts'
import { family, type MetricFamily } from '../store/metrics/registry.ts'
import type { Services } from '../store/services.ts'
import { backupState } from './records.ts'

const loadState = cachedQuery(sql => backupState(sql), { minAgeMs: 15_000 })

/** Without values if the database does not respond, or before the first backup. */
export async function backupFamilies(services: Services): Promise<MetricFamily[]> {
  const state = await services(loadState)()
  const last = state?.lastSuccess
  return [
    family('gauge', 'backup_last_success_timestamp_seconds', [
      'When the last scheduled backup ended and was checked.',
      last?.endedAt ? last.endedAt.getTime() / 1000 : null,
    ]),
    family('gauge', 'backup_last_bytes', ['Size of that backup.', last?.bytes ?? null]),
    family('gauge', 'backup_failing', [
      '1 if the last scheduled backup failed.',
      state && Number(state.isFailing),
    ]),
    family('gauge', 'backup_overdue', [
      '1 if a scheduled backup has been missing for six hours.',
      state && Number(state.isOverdue),
    ]),
  ]
}
