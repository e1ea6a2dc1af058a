/** An answer to the user, not a bug: recorded or shown, never retried. */
export abstract class Failure extends Error {
  abstract readonly status: number
  readonly details: unknown
  constructor(message: string, options: { cause?: unknown; details?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = new.target.name
    this.details = options.details ?? null
  }
}

/** 400: the request or the configuration is not right; the message says what. */
export class Invalid extends Failure {
  readonly status = 400
}

/** 404. */
export class NotFound extends Failure {
  readonly status = 404
}

/** 409: the state of the server does not allow it now. */
export class Conflict extends Failure {
  readonly status = 409
}

/** The stable codes stored on a book whose file cannot be read. They are part of the wire. */
export const unreadableCodes = [
  'bad_crc',
  'encrypted',
  'internal',
  'io',
  'memory',
  'multi_volume',
  'no_pages',
  'not_an_archive',
  'timeout',
  'too_large',
  'truncated',
  'unsupported_format',
  'unsupported_image',
  'unsupported_method',
] as const
export type UnreadableCode = (typeof unreadableCodes)[number]

/** A file, or a part of it, that cannot be read; `code` is stored on the book. */
export class Unreadable extends Failure {
  readonly status = 422
  readonly code: UnreadableCode
  constructor(message: string, code: UnreadableCode, options: { cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}
