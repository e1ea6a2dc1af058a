// Addresses of the API for this server, which may be below a path of a reverse proxy.
import { preview } from './preview.ts'

/** Path of the server without a trailing slash: empty, or `/books`. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '')

/** The address of a path below /api/v1, such as `/auth/me`. */
export const apiUrl = (path: string): string => `${basePath}/api/v1${path}`

type Query = Record<string, string | number | undefined>

/**
 * The address of an image, file, frame or event stream. Cookies authenticate it; in a preview, the address names the
 * previewed account.
 */
export function mediaUrl(path: string, query: Query = {}): string {
  const entries = Object.entries({ ...query, as: preview.value?.accountId })
  const parameters = new URLSearchParams()
  for (const [name, value] of entries) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return apiUrl(path) + (text && `?${text}`)
}
