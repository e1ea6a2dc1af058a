// Expected errors with HTTP status codes, the codes of unreadable files, and shortages of the machine.
import { words } from './words.ts'

/** Failure reasons that clients translate themselves: `details.reason`, part of the API. */
export const failureReasons = [
  ...words('account_inactive data_folder disk_full duplicates_active email_invalid'),
  ...words('file_missing file_too_large folder_not_permitted folder_special'),
  ...words('last_administrator library_around library_exists library_folder library_inside'),
  ...words('limit_reached name_empty name_taken no_reading_list nothing_to_analyze'),
  ...words('password_too_long password_too_short password_wrong progress_newer rule_chooses'),
  ...words('scan_active scan_not_running setup_done source_disabled user_name_invalid'),
] as const
type FailureReason = (typeof failureReasons)[number]

type FailureOptions = {
  cause?: unknown
  details?: unknown
  reason?: FailureReason
  /** What is exceeded; by itself the reason is `limit_reached`. */
  limit?: number
}

/** An expected error, not a bug: reported to the user or recorded, never retried. */
export abstract class Failure extends Error {
  abstract readonly status: number
  readonly details: unknown
  constructor(message: string, { cause, details, limit, ...options }: FailureOptions = {}) {
    super(message, { cause })
    this.name = new.target.name
    const { reason = limit === undefined ? undefined : 'limit_reached' } = options
    this.details = reason
      ? { reason, ...(limit === undefined ? {} : { limit }), ...(details as object | undefined) }
      : (details ?? null)
  }
}

/** 400: invalid request or configuration. */
export class Invalid extends Failure {
  readonly status = 400
}

/** 401: missing or invalid credentials. */
export class Unauthorized extends Failure {
  readonly status = 401
}

/** 403: missing permission. */
export class Forbidden extends Failure {
  readonly status = 403
}

/** 404: does not exist, or is hidden from the account. */
export class NotFound extends Failure {
  readonly status = 404
}

/** 405: the path does not support the method. */
export class MethodNotAllowed extends Failure {
  readonly status = 405
}

/** 409: not possible in the current state. */
export class Conflict extends Failure {
  readonly status = 409
}

/** 412: a precondition of the request does not hold. */
export class PreconditionFailed extends Failure {
  readonly status = 412
}

/** 413: exceeds a size limit. */
export class TooLarge extends Failure {
  readonly status = 413
}

/** 415: unsupported media type. */
export class UnsupportedMedia extends Failure {
  readonly status = 415
}

/** 429: rate limit exceeded; retry after `retryAfter` seconds. */
export class RateLimited extends Failure {
  readonly status = 429
  readonly retryAfter: number
  constructor(message: string, retryAfter: number) {
    super(message)
    this.retryAfter = retryAfter
  }
}

/** 503: temporarily unavailable, or until the operator fixes a problem; retry after some seconds. */
export class Unavailable extends Failure {
  readonly status = 503
  readonly retryAfter: number
  constructor(message: string, retryAfter = 5, details: unknown = null) {
    super(message, { details })
    this.retryAfter = retryAfter
  }
}

/** 503: the process ran out of file descriptors, memory or threads; `code` is the system's. */
export class Shortage extends Unavailable {
  readonly code: string
  constructor(message: string, { code, cause }: { code: string; cause: unknown }) {
    super(message)
    this.code = code
    this.cause = cause
  }
}

const ofLibraryFolder = { reason: 'library_folder' satisfies FailureReason }

/** 503: the disk of a library does not respond; work on it resumes when it does. */
export class NotResponding extends Unavailable {
  constructor() {
    super('The folder of the library does not respond', 10, ofLibraryFolder)
  }
}

/** 503: the folder of a library is missing or empty, like an unmounted drive. */
export class NotMounted extends Unavailable {
  constructor() {
    super('The folder of the library is not available', 10, ofLibraryFolder)
  }
}

/** Stable error codes stored with a book that cannot be read; part of the API. */
export const unreadableCodes = [
  ...words('bad_crc encrypted internal io memory multi_volume no_pages not_an_archive'),
  ...words('timeout too_large truncated unsupported_format unsupported_image'),
  ...words('unsupported_method'),
] as const
export type UnreadableCode = (typeof unreadableCodes)[number]

/** 422: a file or part of it cannot be read; `code` is stored with the book. */
export class Unreadable extends Failure {
  readonly status = 422
  readonly code: UnreadableCode
  constructor(message: string, code: UnreadableCode, options: { cause?: unknown } = {}) {
    super(message, { ...options, details: { code } })
    this.code = code
  }
}

/** Why a book without images has no cover; this is not an error of the book. */
export const noCoverImage = 'The book has no image for a cover'

// Shortages of file descriptors, memory or threads are temporary, and not caused by the file being read.
const tooManyFiles = 'The server has too many files open; try again later'
const messages = new Map([
  ['EMFILE', tooManyFiles],
  ['ENFILE', tooManyFiles],
  ['ENOMEM', 'The server has too little memory; try again later'],
  ['ERR_WORKER_INIT_FAILED', 'The server cannot start another thread; try again later'],
])

// Module loader errors: without file descriptors, some versions of Node.js report an existing module as
// missing.
const loaderCodes = new Set([
  'ERR_DLOPEN_FAILED',
  'ERR_INVALID_PACKAGE_CONFIG',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
])

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

/** Whether a system error, possibly from another thread, reports a shortage. */
export const isShortage = (error: unknown): boolean => messages.has(codeOf(error))

/**
 * Whether an error requires replacing the thread: in a shortage, or when one of its modules failed to load.
 */
export const endsThread = (error: unknown): boolean =>
  isShortage(error) || loaderCodes.has(codeOf(error))

/** The failure for an error for which `isShortage` is true. */
export const shortage = (cause: unknown): Shortage =>
  new Shortage(messages.get(codeOf(cause))!, { code: codeOf(cause), cause })

/** The failure of a call whose thread could not start or was replaced for any reason. */
export const threadShortage = (cause: unknown): Shortage =>
  shortage(isShortage(cause) ? cause : { code: 'ERR_WORKER_INIT_FAILED', cause })
