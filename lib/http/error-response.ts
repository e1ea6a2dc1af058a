// Error responses: every failure as `{error, message, details}` with its status.
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  Failure,
  isShortage,
  RateLimited,
  Shortage,
  shortage,
  Unavailable,
} from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { isConnectionLost, isDiskFull } from '../store/postgres/connection-error.ts'
import type { Dialect } from './dialect/dialect.ts'
import { hasDisconnected } from './exchange.ts'
import type { Challenge } from './protocol.ts'
import { withSentNames } from './validate.ts'

/** Values of `error` in the body, by status. */
export const errorNames: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'RequestTimeout',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  414: 'UriTooLong',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableEntity',
  429: 'rate_limit_exceeded',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
}

export const errorName = (status: number) =>
  errorNames[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')

// Fastify's own messages mention its plugins and content type parsers.
const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Unsupported media type of the body',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body length differs from Content-Length',
  FST_ERR_BAD_URL: 'The URL is not valid',
  FST_REQ_FILE_TOO_LARGE: 'The file is too large',
  FST_FILES_LIMIT: 'Too many files',
  FST_PARTS_LIMIT: 'Too many parts',
  FST_FIELDS_LIMIT: 'Too many fields',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'The body must be multipart/form-data',
}

/** SQLSTATE codes of statements that failed because of a value in the request. */
const invalidValueMessages: Record<string, string> = {
  '22003': 'A number is out of range',
  '22021': 'The text contains characters that cannot be stored',
  '2201B': 'The regular expression is not valid',
  '22P02': 'A value has an invalid format',
  '22P05': 'The text contains characters that cannot be stored',
  '54000': 'A value is too long',
  '54001': 'The request is nested too deeply',
}

/**
 * Codes of temporary conditions, or ones that the operator resolves: the same request may succeed later. A
 * damaged database or disk (58030, XX001) is a real error.
 */
const overloadMessages: Record<string, string> = {
  // After a failover the connection may lead to the old primary.
  '25006': 'The database is read-only right now; try again later',
  // Conflicts with other transactions, not retried or retried without success.
  '40001': 'Someone else is changing the same data; try again',
  '40P01': 'Someone else is changing the same data; try again',
  '53000': 'The database has too few resources; try again later',
  '53200': 'The database has too little memory; try again later',
  '53300': 'The database has too many clients; try again later',
  '53400': 'The request exceeds a limit of the database; try again later',
  '55P03': 'The data is locked right now; try again',
  '57014': 'The request took too long; narrow it down',
}

/** The failure of a request while the database is unreachable; it usually returns within seconds. */
export const databaseUnavailable = () =>
  new Unavailable('The database is not available right now; try again in a few seconds', 3)

/** Converts database and disk errors that the request did not cause to failures. */
function asFailure(error: unknown): unknown {
  if (error instanceof Failure) return error
  if (isShortage(error)) return shortage(error)
  if (isConnectionLost(error)) return databaseUnavailable()
  if (isDiskFull(error))
    return new Unavailable('The server has no disk space left; nothing can be stored', 60, {
      reason: 'disk_full',
    })
  return error
}

/** Errors after a client has disconnected: an aborted signal, or its canceled statement. */
const isAbort = (error: unknown) => {
  const { name, code } = error as { name?: unknown; code?: unknown }
  return name === 'AbortError' || code === '57014'
}

const overloadRetrySeconds = 5

// File errors contain file names, which are not logged.
const reasonOf = (error: unknown, code: string) =>
  code.startsWith('E') ? {} : { reason: (error as Error).message }

/** The body of a 412 or 416, whose responses have their own headers. */
export const failureBody = (status: 412 | 416) => ({
  error: errorName(status),
  message:
    status === 412
      ? 'The resource has changed: its ETag or date differs from the one in the request'
      : 'The requested range is outside the file',
  details: null,
})

export function statusOf(thrown: unknown): number {
  const error = asFailure(thrown)
  if (error instanceof Failure) return error.status
  const { statusCode = 500, code = '' } = error as { statusCode?: number; code?: string }
  return code in invalidValueMessages ? 400 : code in overloadMessages ? 503 : statusCode
}

export function errorResponse(
  { log, dialect }: { log: Log; dialect: Dialect },
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  challenge: Challenge | null = null,
) {
  const error =
    hasDisconnected(reply) && isAbort(thrown)
      ? new Unavailable('Request was canceled')
      : asFailure(thrown)
  const { code = '' } = error as { code?: string }
  const overload = overloadMessages[code]
  const status = statusOf(error)
  const retryAfter = error instanceof Unavailable ? error.retryAfter : overloadRetrySeconds
  const context = { requestId: request.id, route: request.routeOptions?.url }
  const isPassing = overload || error instanceof Shortage
  if (isPassing)
    log.warn({ ...context, code, ...reasonOf(error, code) }, 'request failed temporarily')
  else if (status >= 500 && status !== 502 && status !== 503)
    log.error({ err: error, ...context }, 'request failed')
  // Already reported by the database monitor or the space guard, or of no interest.
  if (error !== thrown) log.debug({ err: thrown, ...context }, 'request failed')
  if (reply.raw.headersSent) {
    reply.raw.destroy()
    return reply
  }
  reply.code(status).type('application/json; charset=utf-8')
  reply.removeHeader('etag')
  reply.header('cache-control', 'no-store')
  if (status === 503) reply.header('retry-after', String(retryAfter))
  if (challenge !== null) reply.headers(challenge.headers)
  // A buffer, because Fastify would add a charset to the content type of a string.
  if (challenge?.document)
    return reply.type(challenge.document.type).send(Buffer.from(challenge.document.text))
  const limitSeconds = error instanceof RateLimited ? error.retryAfter : null
  if (limitSeconds !== null) reply.header('retry-after', String(limitSeconds))
  const specific =
    error instanceof Failure
      ? error.message
      : (invalidValueMessages[code] ?? overload ?? frameworkMessages[code])
  const fallback = status >= 500 ? 'Internal error; see the server log' : 'The request is not valid'
  const details = error instanceof Failure ? error.details : null
  const message = withSentNames(specific ?? fallback, [request.body, request.query])
  return reply.send(
    dialect.errorBody({ status, message, details, retryAfter: limitSeconds }, request),
  )
}
