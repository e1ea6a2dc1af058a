// The one answer to everything that goes wrong: `{error, message, details}` with its status.
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure, Limited } from '../errors.ts'
import type { Log } from '../log.ts'

// The wire's type names, by status (api-specification §7).
const names: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  414: 'UriTooLong',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableEntity',
  429: 'rate_limit_exceeded',
  503: 'ServiceUnavailable',
}

export const errorName = (status: number) =>
  names[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')

// What the framework says names its own plugins; ours is for the caller.
const framework: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The media type of the body is not understood here',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its header says',
  FST_ERR_BAD_URL: 'The address is not a valid URL',
  FST_REQ_FILE_TOO_LARGE: 'The file is too large',
  FST_FILES_LIMIT: 'Too many files',
  FST_PARTS_LIMIT: 'Too many parts',
  FST_FIELDS_LIMIT: 'Too many fields',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'The body must be multipart/form-data',
}

// Postgres: a statement that the client's own values made impossible.
const clientsFault: Record<string, string> = {
  '22003': 'A number is out of range',
  '22021': 'The text holds characters that cannot be stored',
  '22P02': 'A value has not the form it should have',
  '22P05': 'The text holds characters that cannot be stored',
  '54000': 'A value is too long',
  '54001': 'The request is nested too deeply',
}

// Postgres: the statement took too long, or nobody can be let in now.
const busy: Record<string, string> = {
  '53300': 'The database has too many clients; try again later',
  '57014': 'This took too long; ask for less',
}

/** What a refusal says beside the error; `document` goes in its place. */
export type Asked = {
  headers: Record<string, string>
  document: { type: string; text: string } | null
}

export function statusOf(error: unknown): number {
  if (error instanceof Failure) return error.status
  const { statusCode = 500, code = '' } = error as { statusCode?: number; code?: string }
  return code in clientsFault ? 400 : code in busy ? 503 : statusCode
}

export function errorAnswer(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked | null = null,
) {
  const { code = '' } = error as { code?: string }
  const fault = clientsFault[code]
  const wait = busy[code]
  const status = statusOf(error)
  const place = { requestId: request.id, route: request.routeOptions?.url }
  if (wait) log.warn({ ...place, code }, 'the database was too slow')
  else if (status >= 500 && status !== 503) log.error({ err: error, ...place }, 'request failed')
  if (reply.raw.headersSent) {
    reply.raw.destroy()
    return reply
  }
  reply.code(status).type('application/json; charset=utf-8')
  reply.removeHeader('etag')
  reply.header('cache-control', 'no-store')
  if (asked !== null) reply.headers(asked.headers)
  // As bytes, so that nothing is added to its type.
  if (asked?.document) return reply.type(asked.document.type).send(Buffer.from(asked.document.text))
  if (error instanceof Limited) {
    reply.header('retry-after', String(error.retryAfter))
    return reply.send({
      error: errorName(429),
      message: error.message,
      details: null,
      retry_after: error.retryAfter,
    })
  }
  const own = error instanceof Failure ? error.message : (fault ?? wait ?? framework[code])
  const message = own ?? (status >= 500 ? 'The server failed' : 'The request is not valid')
  const details = error instanceof Failure ? error.details : null
  return reply.send({ error: errorName(status), message, details })
}

/** What is no HTTP at all gets its answer on the bare socket. */
export function refuseGarbage(error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 431
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 408
        : 400
  const text = JSON.stringify({
    error: errorName(status),
    message: 'The request is no valid HTTP',
    details: null,
  })
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}
