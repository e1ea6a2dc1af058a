// Response bodies for HEAD: Fastify computes Content-Length from them, and streams must be released.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** `body`, or an empty stream for HEAD; a stream that is not read is destroyed. */
export function bodyFor(request: FastifyRequest, body: Buffer | Readable) {
  if (request.method !== 'HEAD' || Buffer.isBuffer(body)) return body
  body.destroy()
  return Readable.from([])
}

/** No body. For HEAD an empty stream, because Fastify would set a Content-Length of 0. */
export function emptyBody(request: FastifyRequest): undefined {
  return (request.method === 'HEAD' ? Readable.from([]) : undefined) as undefined
}

/** Calls `done` once the response has been sent or its connection closed. */
export function whenClosed(reply: FastifyReply, done: () => void): void {
  if (reply.raw.destroyed) done()
  else reply.raw.once('close', done)
}
