// Credentials of a request: API key, bearer token, HTTP Basic or cookie, parsed from the headers.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Unauthorized } from '../base/errors.ts'

export type TokenCredential = { kind: 'token' | 'cookie'; secret: string }

/** `secret` is the token, the key, or the encoded value of a Basic header. */
export type Credential =
  | TokenCredential
  /** `isInUrl`: URLs are stored by browsers and proxies. */
  | { kind: 'key'; secret: string; isInUrl?: true }
  | { kind: 'basic'; secret: string; name: string; password: string }
  | { kind: 'koreader'; secret: string; name: string; keyMd5: string }

/** Prefix of every API key. */
export const apiKeyPrefix = 'stackroom_'

/**
 * The first of: Authorization, X-API-Key, X-Auth-User and, where allowed, the cookie of that name.
 * Null when there is none. Throws Unauthorized when the first one is malformed, even if others follow.
 */
export function parseCredential(
  headers: IncomingHttpHeaders,
  { cookie = null }: { cookie?: string | null },
): Credential | null {
  if (headers.authorization !== undefined) return parseAuthorization(headers.authorization)
  const key = headers['x-api-key'] ?? headers['x-auth-user']
  if (key !== undefined) return { kind: 'key', secret: String(key).trim() }
  if (cookie === null || headers.cookie === undefined || isCrossOrigin(headers)) return null
  const token = readCookie(headers.cookie, cookie)
  return token ? { kind: 'cookie', secret: token } : null
}

/** Whether the browser marks the request as sent by a page of another origin. */
export function isCrossOrigin(headers: IncomingHttpHeaders): boolean {
  // Another port or subdomain is the same site; cookies are sent from there, and images need no Origin.
  if (/^(?:cross|same)-site$/.test(String(headers['sec-fetch-site']))) return true
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()
}

function parseAuthorization(header: string): Credential {
  const [, scheme = '', value = ''] = /^\s*(\S+)\s+(\S+)\s*$/.exec(header) ?? []
  if (/^bearer$/i.test(scheme)) {
    return { kind: value.startsWith(apiKeyPrefix) ? 'key' : 'token', secret: value }
  }
  if (!/^basic$/i.test(scheme))
    throw new Unauthorized('The Authorization header is neither Bearer nor Basic')
  return parseBasic(value)
}

/** An API key is accepted as the password, or as the name with an empty password: some apps have only one field. */
function parseBasic(value: string): Credential {
  const bytes = Buffer.from(value, 'base64')
  // The challenge requests UTF-8 (RFC 7617 §2.1), but clients that ignore it, such as OkHttp, send Latin-1.
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const colon = text.indexOf(':')
  if (colon < 0) throw new Unauthorized('The Basic credentials are malformed')
  const name = text.slice(0, colon)
  const password = text.slice(colon + 1)
  if (password.startsWith(apiKeyPrefix)) return { kind: 'key', secret: password }
  if (password === '' && name.startsWith(apiKeyPrefix)) return { kind: 'key', secret: name }
  return { kind: 'basic', secret: value, name, password }
}

function readCookie(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return null
}
