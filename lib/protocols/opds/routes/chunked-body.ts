// Long text responses, generated in chunks while they are sent, without blocking the event loop.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { bodyFor } from '../../../http/body.ts'

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
