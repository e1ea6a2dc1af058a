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

/** 401: no credentials, or none that are good. */
export class Unauthorized extends Failure {
  readonly status = 401
}

/** 403: known, and not allowed. */
export class Forbidden extends Failure {
  readonly status = 403
}

/** 404: missing, or not to be seen by this account. */
export class NotFound extends Failure {
  readonly status = 404
}

/** 409: the state of the server does not allow it now. */
export class Conflict extends Failure {
  readonly status = 409
}

/** 413: more bytes than are taken. */
export class TooLarge extends Failure {
  readonly status = 413
}

/** 415: a media type that is not understood here. */
export class UnsupportedMedia extends Failure {
  readonly status = 415
}

/** 429: try again in `retryAfter` whole seconds. */
export class Limited extends Failure {
  readonly status = 429
  readonly retryAfter: number
  constructor(message: string, retryAfter: number) {
    super(message)
    this.retryAfter = retryAfter
  }
}

/** 503: not now; another time, or once the operator has mended it. */
export class Unavailable extends Failure {
  readonly status = 503
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
    super(message, { ...options, details: { code } })
    this.code = code
  }
}
