// Failure reasons of tasks as shown to users. Paths, statements and stack traces stay in the log.
import { Failure, isShortage, shortage } from '../../base/errors.ts'
import { isConnectionLost, isDiskFull } from '../postgres/connection-error.ts'

/** A short sentence for any error. */
export function failureReason(error: unknown): string {
  if (error instanceof Failure) return error.message
  if (isShortage(error)) return shortage(error).message
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (isConnectionLost(error) || code.startsWith('57')) return 'The database could not be reached'
  if (/^(40|55P03)/.test(code)) return 'Conflicting concurrent change'
  if (isDiskFull(error)) return 'The disk is full'
  return 'Internal error; see the server log'
}
