// Pino on stderr, so that stdout stays the command's data; no line leaves with a secret in it.
import pino from 'pino'

export type Log = pino.Logger
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const hidden = '[hidden]'
const keys =
  '(?:[a-z0-9_-]{1,40}[_-])?(?:password|passwd|passphrase|secret|token|authorization|cookie|jwt|' +
  'credential|api[_-]?key|private[_-]?key)|[a-z0-9]{1,40}(?:password|secret|token|apikey)'
// On the finished line, so that no depth of nesting and no error's message escapes. Every repeat
// is bounded or ends at a character that it excludes: a hostile line must not cost more than its length.
const member = new RegExp(
  `("(?:${keys})"\\s{0,9}:\\s{0,9})(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\]|-?\\d[\\d.]*)`,
  'gi',
)
// JSON within a string of the line: its quotes are escaped, at any depth.
const inner = new RegExp(`(\\\\"(?:${keys})\\\\{1,7}"\\s{0,9}:\\s{0,9}\\\\{1,7}")[^"\\\\]*`, 'gi')
const inUrl = /([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"\\]{0,200}:)[^\s/"\\]{1,500}@/gi
const scheme = /\b(bearer|basic)(\s+)[\w.~+/=-]{6,}/gi
const inQuery = /([?&](?:api_?key|key|token|access_token|password|secret)=)[^&\s"\\#]+/gi

// Keys and tokens of our own give themselves away wherever they stand.
const ownKey = /\b(stackroom_[0-9a-f]{16}_)[0-9a-f]{32,128}/g
const jwt = /(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{8,2000}\.[\w-]{8,200}/g

/** Hides passwords in URLs, authorization values, members with a secret's name, keys and tokens. */
export function hideSecrets(line: string): string {
  return line
    .replace(member, `$1"${hidden}"`)
    .replace(inner, `$1${hidden}`)
    .replace(inUrl, `$1${hidden}@`)
    .replace(scheme, `$1$2${hidden}`)
    .replace(inQuery, `$1${hidden}`)
    .replace(ownKey, `$1${hidden}`)
    .replace(jwt, hidden)
}

/** `stream` is for tests; the default is stderr, written at once so that a crash loses nothing. */
export function openLog(
  { level }: { level: (typeof logLevels)[number] },
  stream: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
): Log {
  return pino({ level, hooks: { streamWrite: hideSecrets } }, stream)
}
