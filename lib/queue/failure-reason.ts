// Failure reasons of tasks as users see them. Paths, statements and stack traces stay in the log.
import { Failure } from '../errors.ts'

/** A short sentence for an error of any kind. */
export function failureReason(error: unknown): string {
  if (error instanceof Failure) return error.message
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (/^(08|57|CONNECTION|CONNECT_)/.test(code)) return 'The database could not be reached'
  if (/^(40|55P03)/.test(code)) return 'Conflicting concurrent change'
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === '53100') return 'The disk is full'
  return 'Internal error; see the server log'
}
