// Requests that a server passes on to another one, which is mounted in it under a prefix.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Serves the request of a server by another one if it is for that; the answer is whether it does. `segment` is
 * the first one of the path. At once for most requests, which are not.
 */
export type PassOn = (
  segment: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>

const prefixes = new WeakMap<IncomingMessage, string>()

/** The prefix of a request that was passed on, such as `/komga`; null for others. */
export const mountPrefixOf = (request: IncomingMessage): string | null =>
  prefixes.get(request) ?? null

/** Serves a request by a server that does not listen itself. */
export function serveMounted(
  server: FastifyInstance,
  prefix: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  prefixes.set(request, prefix)
  server.routing(request, response)
}
