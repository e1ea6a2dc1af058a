// Failure of a source: unreachable, refused, too slow, over a limit, or an invalid answer.
import { Failure } from '../base/errors.ts'

/**
 * `refused`: not allowed by configuration; `unreachable`: no connection, or no process; `limited`: must not be called
 * for a while; `status`: an HTTP error, or an error reported by a plugin; `invalid`: an answer that violates the
 * contract.
 */
export const sourceFailureKinds = [
  'refused',
  'unreachable',
  'timeout',
  'limited',
  'status',
  'too_large',
  'invalid',
] as const
type SourceFailureKind = (typeof sourceFailureKinds)[number]

/** 502. The message is for users: it names hosts, but neither paths nor credentials. */
export class SourceFailure extends Failure {
  readonly status = 502
  readonly kind: SourceFailureKind
  /** Must not be called earlier; null lets the caller decide. */
  readonly retryAt: Date | null
  constructor(
    message: string,
    kind: SourceFailureKind,
    { retryAt = null, cause }: { retryAt?: Date | null; cause?: unknown } = {},
  ) {
    super(message, { cause, details: { kind } })
    this.kind = kind
    this.retryAt = retryAt
  }
}
