// Requests that a server passes on to another one, mounted in it under a prefix.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Serves the request with another server if it is for that one, and resolves to whether it is. `segment` is
 * the first one of the path. Synchronous for most requests, which are not passed on.
 */
export type PassOn = (
  segment: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>

const prefixes = new WeakMap<IncomingMessage, string>()

/** The prefix of a request that was passed on, such as `/komga`; otherwise null. */
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
