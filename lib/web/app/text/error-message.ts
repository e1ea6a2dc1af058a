// Error messages for readers.
import { ApiError } from '../api/errors.ts'
import { fieldKey, language, type TextKey, t, textOr } from './translate.ts'

type Detail = { path?: unknown; code?: unknown; limit?: unknown; message?: unknown }
type Details = { reason?: unknown; code?: unknown; limit?: unknown }

/** The message of an error of the API or of the application. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.unknown')
  const { status, message, details } = error
  if (status === 0) return t('error.connection')
  if (Array.isArray(details) && details.length > 0)
    return (details as Detail[]).map(detailText).join(' · ')
  const { reason, code, limit } = (details ?? {}) as Details
  if (reason === 'library_folder') return t('error.libraryUnavailable')
  const values = { limit: Number(limit) }
  const specific =
    textOr(`error.reason.${reason}`, '', values) ||
    textOr(`bookError.${code}`, '') ||
    textOr(folderTexts[String(code)] ?? '', '')
  if (specific) return specific
  if (status === 403) return t('state.noPermissionText')
  if (status === 429) return t('error.busy')
  if (status === 503) return t('error.unavailable')
  return inGeneral(status, message)
}

/** By file system error code. */
const folderTexts: Record<string, TextKey> = {
  ENOENT: 'error.noSuchFolder',
  ENOTDIR: 'error.notFolder',
  EACCES: 'error.folderNotPermitted',
  EPERM: 'error.folderNotPermitted',
}

/** For these the server's English details are useful. */
const isExplained = (status: number) => [400, 409, 422, 502].includes(status)

function inGeneral(status: number, message: string): string {
  const text = textOr(`error.status.${status}`, '')
  if (language.value === 'en' && status < 500) return message || text || t('error.unknown')
  if (!text) return message || t('error.unknown')
  return isExplained(status) && message ? `${text} (${message})` : text
}

/** A refused field with the reason. */
function detailText({ path, code, limit, message }: Detail): string {
  const text = validationText({ code, limit, message })
  const name =
    String(path ?? '')
      .split('/')
      .findLast(part => !/^\d*$/.test(part)) ?? ''
  if (name === '' || name === 'body' || name === 'query' || name === 'path') return text
  return t('error.ofField', { field: textOr(fieldKey(name), name), text })
}

/** The reason for a refused value, or the server's message if there is no text. */
export function validationText({ code, limit, message }: Detail): string {
  const name = code === 'minLength' && limit === 1 ? 'required' : code
  const known = textOr(`error.validation.${name}`, '', { limit: Number(limit) })
  return known || (typeof message === 'string' && message) || t('error.status.400')
}
