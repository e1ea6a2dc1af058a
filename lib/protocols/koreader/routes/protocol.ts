// KOReader sync as a protocol: its paths, below /koreader and at the root, and its sign-in headers.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix, type Credential } from '../../../accounts/credential.ts'
import type { Protocol } from '../../../http/protocol.ts'

// KOReader appends its paths to the address as entered, with or without a trailing slash.
const doubleSlash = /^(\/koreader)?\/+(?=\/(?:users|syncs|healthcheck)(?:\/|$))/

export const koreaderProtocol: Protocol = {
  roots: ['koreader'],
  rewrite: path => path.replace(doubleSlash, '$1'),
  credential: ({ headers }) => parseKoreader(headers),
}

/**
 * User name and MD5 of the password, which is an API key. The key itself may also be the user name. Null if they are
 * absent, or if there is an Authorization header, which takes precedence.
 */
export function parseKoreader(headers: IncomingHttpHeaders): Credential | null {
  const sent = headers['x-auth-user']
  if (sent === undefined || headers.authorization !== undefined) return null
  // Decoded first: in Latin-1 the last byte of à is a space.
  const name = decodeLatin1(String(sent)).trim()
  const keyMd5 = String(headers['x-auth-key'] ?? '').toLowerCase()
  if (name === '' || name.startsWith(apiKeyPrefix) || keyMd5 === '')
    return headers['x-api-key'] === undefined ? { kind: 'key', secret: String(sent).trim() } : null
  return { kind: 'koreader', secret: `${keyMd5}\0${name}`, name, keyMd5 }
}

/** Node.js reads headers as Latin-1; KOReader sends UTF-8. */
function decodeLatin1(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}
