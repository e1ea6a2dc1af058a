// Input of handlers, with a signal that aborts when their response is no longer needed; response bodies: for HEAD, from
// which Fastify computes Content-Length, and long texts written in pieces.
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

const itemsAtOnce = 250

/** JSON of an object with a long list, which comes last. Values are written as they are, ignoring the response schema. */
export function longListJson(members: object, list: Record<string, readonly object[]>): Readable {
  return Readable.from(piecesOf(members, list), { objectMode: false, highWaterMark: 64 * 1024 })
}

async function* piecesOf(members: object, list: Record<string, readonly object[]>) {
  const [name, items] = Object.entries(list)[0]!
  const others = JSON.stringify(members).slice(0, -1)
  yield `${others}${others === '{' ? '' : ','}${JSON.stringify(name)}:[`
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    await setImmediate()
    const texts = items.slice(start, start + itemsAtOnce).map(item => JSON.stringify(item))
    yield `${start > 0 ? ',' : ''}${texts.join(',')}`
  }
  yield ']}'
}

/** Calls `done` once the response has been sent or its connection closed. */
export function whenClosed(reply: FastifyReply, done: () => void): void {
  if (reply.raw.destroyed) done()
  else reply.raw.once('close', done)
}

/** What a handler gets; `abandon` aborts its signal as if the client had disconnected. */
export function inputOf(request: FastifyRequest, reply: FastifyReply) {
  let controller: AbortController | undefined
  let isAbandoned = false
  return {
    input: {
      params: request.params,
      query: request.query,
      body: request.body,
      identity: request.identity,
      viewer: request.identity?.viewer,
      request,
      reply,
      get signal() {
        controller ??= disconnectController(reply)
        if (isAbandoned) controller.abort()
        return controller.signal
      },
    },
    abandon() {
      isAbandoned = true
      controller?.abort()
    },
  }
}

function disconnectController(reply: FastifyReply): AbortController {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  // No `close` event follows if the client disconnected during authentication.
  if (hasDisconnected(reply)) controller.abort()
  return controller
}

/** Whether the client disconnected before its response was sent. */
export const hasDisconnected = ({ raw }: FastifyReply) => raw.destroyed && !raw.writableFinished
