// Responses on the socket to bytes that are not an HTTP request, or that arrived too slowly.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RateLimited } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { errorName } from '../error-response.ts'
import type { RateLimiter } from '../limits/rate-limit.ts'

type ClientError = Error & { code?: string }

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}
const messages: Record<number, string> = {
  408: 'The request took too long to arrive',
  429: 'Too many requests',
}

/** They count against the address of the connection: a proxy's headers were not read. */
export function limitMalformedRequests(limiter: RateLimiter) {
  const answered = new WeakSet<Socket>()
  return async ({ code = '' }: ClientError, socket: Socket): Promise<void> => {
    // Everything after the first fault is faulty too.
    if (code === 'ECONNRESET' || answered.has(socket)) return
    answered.add(socket)
    const headers: Record<string, string> = {}
    const reply = { header: (name: string, value: string) => (headers[name] = value) }
    const request = { ip: socket.remoteAddress ?? '' }
    try {
      await limiter.consume({ request, reply, accountId: null }, 'default')
      respond(socket, statuses[code] ?? 400, headers)
    } catch (error) {
      if (!(error instanceof RateLimited)) return void socket.destroy()
      const { retryAfter } = error
      respond(
        socket,
        429,
        { ...headers, 'retry-after': String(retryAfter) },
        { retry_after: retryAfter },
      )
    }
  }
}

function respond(
  socket: Socket,
  status: number,
  limits: Record<string, string>,
  more: object = {},
): void {
  if (socket.destroyed || !socket.writable) return
  const body = JSON.stringify({
    error: errorName(status),
    message: messages[status] ?? 'Malformed HTTP request',
    details: null,
    ...more,
  })
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': newId(),
    ...limits,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
