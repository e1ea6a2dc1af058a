// HTTP caching headers: Vary, weak ETags for text responses, 304 for conditional requests.
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isFresh } from '../download/range.ts'

// Several accounts may share one browser: a response must not be reused for another account (RFC 9111 §4.1).
const credentialHeaders = 'Authorization, X-API-Key, X-Auth-User, X-Auth-Token, Cookie'
// Excludes event streams: the compressor would hold events back until its buffer is full.
export const compressible = /^application\/(.+\+)?json\b|^text\/(?!event-stream)|\+xml\b/

/** Headers, besides Host, from which absolute URLs in a response are built. */
export const forwardedHeaders =
  'Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto'

/** Adds the headers that the route's responses depend on to `Vary`. */
export function setVary(request: FastifyRequest, reply: FastifyReply): void {
  const { isPersonal = false, protocol } = request.routeOptions.config ?? {}
  const existing = reply.getHeader('vary')
  const names = [
    ...(existing === undefined ? [] : [existing]),
    ...(isPersonal ? [credentialHeaders] : []),
    ...(protocol?.varyOf?.(request) ?? []),
  ]
  const isCompressible = compressible.test(String(reply.getHeader('content-type') ?? ''))
  if (isCompressible && !names.some(name => /\baccept-encoding\b/i.test(String(name))))
    names.push('accept-encoding')
  if (names.length > 0) reply.header('vary', names.join(', '))
}

const json = /^application\/json\b/

/** Whether the payload is text, encoded or not. */
const isText = (reply: FastifyReply, payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' ||
  (Buffer.isBuffer(payload) && json.test(String(reply.getHeader('content-type') ?? '')))

/** An onSend hook: weak ETags for text. Images and files set strong ETags themselves. */
export async function addEtag(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || !isText(reply, payload)) return payload
  if (reply.hasHeader('etag')) return payload
  // Encoded once, for both the hash and the connection.
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
  const tag = `W/"${hash('sha1', bytes, 'base64url')}"`
  reply.header('etag', tag)
  if (!isFresh(request.headers, { etag: tag })) return bytes
  reply.code(304)
  // The Content-Length of a 304 would be read as the full response's. HEAD needs a body to measure.
  return request.method === 'HEAD' ? bytes : null
}
