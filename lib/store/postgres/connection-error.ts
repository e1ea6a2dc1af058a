// Classifies database errors that are not the statement's fault: lost connections, full disks.

type DatabaseError = { code?: unknown; syscall?: unknown; message?: unknown } | null | undefined

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
])
// Only counts with the name of a socket system call: files have the same error codes.
const socketCodes = new Set(['ENOENT', 'EACCES', 'EAGAIN', 'ENOTCONN', 'EMFILE', 'ENFILE'])

/**
 * The server is unreachable, starting, stopping or recovering, or the connection to it was lost. The
 * statement may or may not have been committed.
 */
export function isConnectionLost(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NonNullable<DatabaseError>
  if (typeof code !== 'string') return false
  if (networkCodes.has(code)) return true
  if (socketCodes.has(code)) return syscall === 'connect' || syscall === 'write'
  // 57P01 to 57P05: shut down, crashed, starting, dropped, idle too long.
  return /^(CONNECTION_|08...$|57P0[1-5]$)/.test(code)
}

/** This process has closed its connections because it is stopping. */
export const isPoolClosed = (error: unknown): boolean =>
  (error as DatabaseError)?.code === 'CONNECTION_ENDED'

/** The server could not write because its disk or a quota is exhausted. */
export function isDiskFull(error: unknown): boolean {
  const { code, message } = (error ?? {}) as NonNullable<DatabaseError>
  if (code === '53100' || code === 'ENOSPC' || code === 'EDQUOT') return true
  // PostgreSQL has no separate code for an exhausted quota.
  return typeof code === 'string' && /No space left on device|quota exceeded/i.test(`${message}`)
}
