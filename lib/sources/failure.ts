// Failure of a source: unreachable, refused, too slow, over its limits, or an invalid answer.
import { Failure } from '../base/errors.ts'

/**
 * `refused`: not allowed by configuration; `unreachable`: no connection, or no process; `limited`: to be left
 * alone; `status`: an HTTP error, or an error that a plugin reports; `invalid`: an answer that does not follow the
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

/** 502: the message is for users: it names hosts, but neither paths nor credentials. */
export class SourceFailure extends Failure {
  readonly status = 502
  readonly kind: SourceFailureKind
  /** Not to be called earlier; null: as the caller decides. */
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
