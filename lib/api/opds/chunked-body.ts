// Long texts as answers: made while they are sent, and others are served between two pieces.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { bodyFor } from '../images/image.ts'

/** What Fastify is to be given for a text in pieces. */
export function bodyInTurn(request: FastifyRequest, pieces: Iterable<string>) {
  return bodyFor(request, Readable.from(inTurn(pieces), { highWaterMark: 1 }))
}

async function* inTurn(pieces: Iterable<string>) {
  for (const piece of pieces) {
    yield piece
    // A socket that takes everything at once would never let go of the thread.
    await setImmediate()
  }
}
