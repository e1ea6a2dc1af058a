// Opening a database connection: which errors to wait out, which are final, and how to explain them.
import { setTimeout as sleep } from 'node:timers/promises'
import { Invalid } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isConnectionLost } from './connection-error.ts'
import { poolerProblem } from './requirements.ts'

type Patience = {
  waitMs: number
  address: string
  log?: Log | undefined
  signal?: AbortSignal | undefined
}
type ConnectError = { code?: unknown; message?: unknown; syscall?: unknown }

const retryMs = 1_000

/**
 * Repeats `attempt` while the database is unreachable, starting or out of connections, for at most `waitMs`.
 * Throws Invalid with the reason, or the reason of `signal` as soon as it aborts.
 */
export async function whenReady<T>(
  attempt: () => Promise<T>,
  { waitMs, address, log, signal }: Patience,
): Promise<T> {
  const deadline = performance.now() + waitMs
  for (;;) {
    try {
      return await unlessAborted(attempt(), signal)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof Invalid) throw error
      const { code, message } = describe(error)
      const leftMs = deadline - performance.now()
      if (!isPassing(error) || leftMs <= 0)
        throw new Invalid(messageOf(error, address), { cause: error })
      log?.warn({ code, message, address }, 'waiting for the database')
      await sleep(Math.min(retryMs, leftMs), null, { signal }).catch(() => {})
      signal?.throwIfAborted()
    }
  }
}

/** A connection attempt may hang: it continues in the background until its pool is closed. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The code and text of a driver error, for messages and logs. */
export function describe(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as ConnectError
  // The driver prefixes some of its own messages with the code.
  const text = String(message || error).replace(`${code}: `, '')
  return { code: String(code ?? 'error'), message: text }
}

/**
 * The server may accept the next attempt: unreachable, starting, no free connection, or no writable host yet.
 */
function isPassing(error: unknown): boolean {
  const { code, message } = describe(error)
  // Poolers report every error with the same code, even that their server is gone.
  if (code === '08P01') return !poolerRefusal.test(message)
  if (code === '53300' || code === 'TARGET_SESSION_ATTRS') return true
  return isConnectionLost(error) && code !== 'EACCES'
}

/**
 * Whether the server or its pg_hba.conf refused this connection because it is encrypted, or because it is
 * not.
 */
export const isEncryptionRefused = (error: unknown): boolean =>
  ['28000', 'SSL_NOT_SUPPORTED'].includes(describe(error).code) ||
  isTlsFailure(describe(error).code)

// Parameters of the pools in lib/ that poolers do not support.
const ownParameters =
  'jit,statement_timeout,synchronous_commit,max_parallel_workers_per_gather,plan_cache_mode'
const unsupportedParameter = /unsupported startup parameter/i
const poolerRefusal =
  /unsupported startup parameter|no such (?:database|user)|auth|password|SSL|TLS/i

const hints: Record<string, string> = {
  '28000': "check the user and sslmode in database.url, and the server's pg_hba.conf",
  '28P01': 'check the user and password in database.url',
  '3D000': 'create it, or check the name in database.url',
  '42501': 'grant the privilege, or remove the parameter from options in database.url',
  '42704': 'remove the parameter from options in database.url',
  '22023': 'correct the parameter in options in database.url',
  '55P02': 'remove the parameter from options in database.url',
  '53300': 'raise the limit of the server, the database or the role, or close other connections',
  '57P03': 'wait until it has started; database.wait_seconds sets how long to wait',
  ECONNREFUSED: 'check that the server is running and listening there',
  ENOENT: 'check that the server is running and has its socket there',
  EACCES: 'this user may not use the socket of the server',
  ENOTFOUND: 'check the host in database.url',
  EAI_AGAIN: 'check the host in database.url and the name service',
  CONNECT_TIMEOUT: 'check the host and port in database.url, and any firewalls in between',
  CONNECTION_CLOSED: 'check that a PostgreSQL server listens there',
  SSL_NOT_SUPPORTED: 'enable ssl there, or use sslmode=prefer in database.url',
  TARGET_SESSION_ATTRS: 'none of the hosts in database.url is the primary',
  ERR_TLS_CERT_ALTNAME_INVALID: 'use a host name from the certificate in database.url',
  CERT_HAS_EXPIRED: 'renew the certificate of the server',
}

const untrusted = /^(?:SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET))/
const isTlsFailure = (code: string) =>
  /^(ERR_SSL|ERR_TLS|EPROTO|CERT_)/.test(code) || untrusted.test(code)

function messageOf(error: unknown, address: string): string {
  const { code, message } = describe(error)
  if (code === '08P01' && unsupportedParameter.test(message))
    return `${poolerProblem} with ignore_startup_parameters=${ownParameters} (${message})`
  const hint = untrusted.test(code)
    ? 'sslrootcert in database.url is not the authority that issued its certificate'
    : (hints[code] ?? (isTlsFailure(code) ? 'check the ssl parameters in database.url' : null))
  const text = `Cannot connect to the database at ${address} (${code}): ${message}`
  return hint ? `${text}; ${hint}` : text
}
