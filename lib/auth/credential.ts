// What a request brings to say who it is: headers and the cookie → one credential.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Unauthorized } from '../errors.ts'
import { cookieName } from './cookie.ts'

/** `secret` is the token, the key, or what a Basic header encodes. */
export type Credential =
  | { means: 'token' | 'cookie' | 'key'; secret: string }
  | { means: 'basic'; secret: string; name: string; password: string }

/** The first word of every API key. */
export const keyWord = 'stackroom_'

/**
 * The first that there is of the key in the path, Authorization, X-API-Key, X-Auth-User and, where it
 * is allowed, the cookie; null when there is none. Throws Unauthorized when the first cannot be understood: what
 * follows it is not looked at.
 */
export function credentialOf(
  headers: IncomingHttpHeaders,
  { cookieAllowed, key: inPath = null }: { cookieAllowed: boolean; key?: string | null },
): Credential | null {
  if (inPath !== null) return { means: 'key', secret: inPath }
  if (headers.authorization !== undefined) return fromAuthorization(headers.authorization)
  const key = headers['x-api-key'] ?? headers['x-auth-user']
  if (key !== undefined) return { means: 'key', secret: String(key).trim() }
  if (!cookieAllowed || headers.cookie === undefined || comesFromElsewhere(headers)) return null
  const token = cookieOf(headers.cookie)
  return token ? { means: 'cookie', secret: token } : null
}

/** Whether a browser says that a page of another site asks. */
export function comesFromElsewhere(headers: IncomingHttpHeaders): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return true
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()
}

function fromAuthorization(header: string): Credential {
  const [, scheme = '', value = ''] = /^\s*(\S+)\s+(\S+)\s*$/.exec(header) ?? []
  if (/^bearer$/i.test(scheme)) {
    return { means: value.startsWith(keyWord) ? 'key' : 'token', secret: value }
  }
  if (!/^basic$/i.test(scheme))
    throw new Unauthorized('The Authorization header is neither Bearer nor Basic')
  return fromBasic(value)
}

/** An API key may stand for the password, or alone for the name, as apps with a field for one secret send it. */
function fromBasic(value: string): Credential {
  const bytes = Buffer.from(value, 'base64')
  // We ask for UTF-8 (RFC 7617 §2.1), but what is sent by those who do not look, as OkHttp, is Latin-1.
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const colon = text.indexOf(':')
  if (colon < 0) throw new Unauthorized('The Basic credentials cannot be read')
  const name = text.slice(0, colon)
  const password = text.slice(colon + 1)
  if (password.startsWith(keyWord)) return { means: 'key', secret: password }
  if (password === '' && name.startsWith(keyWord)) return { means: 'key', secret: name }
  return { means: 'basic', secret: value, name, password }
}

function cookieOf(header: string): string | null {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === cookieName) return pair.slice(equals + 1).trim()
  }
  return null
}
