// Starting and canceling scans from the administration.
import { api } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { t } from '../text/translate.ts'
import { showNotice } from '../ui/toast.tsx'

/** Throws ApiError, but not if a scan is already running. */
export async function startScan(
  id: string,
  mode: 'normal' | 'deep',
  onStarted: () => void,
): Promise<void> {
  try {
    await api.POST('/api/v1/libraries/{id}/scan', { params: { path: { id }, query: { mode } } })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    showNotice(t('scan.running'))
  }
  onStarted()
}

/** Throws ApiError. */
export async function cancelScan(id: string): Promise<void> {
  try {
    await api.POST('/api/v1/libraries/{id}/scan/cancel', { params: { path: { id } } })
  } catch (error) {
    // It has already ended.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}
