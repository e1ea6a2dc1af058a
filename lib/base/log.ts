// Logging with Pino to stderr (stdout is the output of commands), with secrets redacted.
import { isatty } from 'node:tty'
import pino from 'pino'

export type Log = pino.Logger
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const redacted = '[redacted]'
const secretKeys =
  '(?:[a-z0-9_-]{1,40}[_-])?(?:password|passwd|passphrase|secret|token|authorization|cookie|jwt|' +
  'credential|api[_-]?key|private[_-]?key)|[a-z0-9]{1,40}(?:password|secret|token|apikey)'
// Applied to the serialized line, so that nested values and error messages are covered. Every repetition is
// bounded or ends at an excluded character, so hostile lines take linear time.
const secretMember = new RegExp(
  `("(?:${secretKeys})"\\s{0,9}:\\s{0,9})(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\]|-?\\d[\\d.]*)`,
  'gi',
)
// JSON inside a string: quotes are escaped, at any depth.
const escapedMember = new RegExp(
  `(\\\\"(?:${secretKeys})\\\\{1,7}"\\s{0,9}:\\s{0,9}\\\\{1,7}")[^"\\\\]*`,
  'gi',
)
const urlPassword = /([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"\\]{0,200}:)[^\s/"\\]{1,500}@/gi
const authorization = /\b(bearer|basic)(\s+)[\w.~+/=-]{6,}/gi
const queryParameter = /([?&](?:api_?key|key|token|access_token|password|secret)=)[^&\s"\\#]+/gi

// API keys and access tokens are recognized anywhere by their format.
const apiKey = /\b(stackroom_[0-9a-f]{16}_)[0-9a-f]{32,128}/g
const jwt = /(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{8,2000}\.[\w-]{8,200}/g

/** Redacts passwords in URLs, authorization values, members with secret names, keys and tokens. */
export function redactSecrets(line: string): string {
  return line
    .replace(secretMember, `$1"${redacted}"`)
    .replace(escapedMember, `$1${redacted}`)
    .replace(urlPassword, `$1${redacted}@`)
    .replace(authorization, `$1$2${redacted}`)
    .replace(queryParameter, `$1${redacted}`)
    .replace(apiKey, `$1${redacted}`)
    .replace(jwt, redacted)
}

/** `stream` is for tests; the default is stderr, written synchronously so that a crash loses nothing. */
export function openLog(
  { level }: { level: (typeof logLevels)[number] },
  stream: pino.DestinationStream = openStderr(),
): Log {
  return pino({ level, hooks: { streamWrite: redactSecrets } }, stream)
}

/**
 * Whether a person reads the log: then it is plain text (cmd/log-text.ts), without a line for each successful
 * request.
 */
export const logsToTerminal: boolean = isatty(2)

/** A full or closed log destination must not stop the server. */
export function openStderr(): pino.DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: 1_000_000 })
  stderr.on('error', () => {})
  return stderr
}
