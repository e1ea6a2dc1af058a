// Errors in words for the reader.
import { ApiError } from '../api/errors.ts'
import { t } from './translate.ts'

/** The message of an error of the API or of the application. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.unknown')
  if (error.status === 0) return t('error.connection')
  if (error.status === 403) return t('state.noPermissionText')
  if (error.status === 429) return t('error.busy')
  if (error.status === 503)
    return t(isOfLibrary(error) ? 'error.libraryUnavailable' : 'error.unavailable')
  return error.message || t('error.unknown')
}

/** Whether the folder of a library is not mounted or does not respond. */
const isOfLibrary = ({ details }: ApiError): boolean =>
  (details as { reason?: unknown } | null)?.reason === 'library_folder'
