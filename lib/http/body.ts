// Response bodies: for HEAD, from which Fastify computes Content-Length, and long texts.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
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

/** A text generated in chunks while it is sent, without blocking the event loop. */
export function chunkedBody(request: FastifyRequest, chunks: Iterable<string>) {
  return bodyFor(request, Readable.from(yieldingBetween(chunks), { highWaterMark: 1 }))
}

async function* yieldingBetween(chunks: Iterable<string>) {
  for (const chunk of chunks) {
    yield chunk
    // With a fast socket, this loop would otherwise never return to the event loop.
    await setImmediate()
  }
}

/** Calls `done` once the response has been sent or its connection closed. */
export function whenClosed(reply: FastifyReply, done: () => void): void {
  if (reply.raw.destroyed) done()
  else reply.raw.once('close', done)
}
