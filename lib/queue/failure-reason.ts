// Why a task failed, in a sentence for users: nothing of paths, statements or stacks, which the log has.
import { Failure } from '../errors.ts'

/** A short sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (/^(08|57|CONNECTION|CONNECT_)/.test(code)) return 'The database could not be reached'
  if (/^(40|55P03)/.test(code)) return 'Another change came in between'
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === '53100') return 'The disk is full'
  return 'It failed; the log says why'
}
