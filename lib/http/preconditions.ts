// Preconditions of writes: compares If-Match and If-Unmodified-Since with the current GET response of the
// same URL.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createKeyedMutex } from '../base/async/keyed-mutex.ts'
import { PreconditionFailed } from '../base/errors.ts'
import { failureBody } from './error-response.ts'

/** Runs `handle` if the preconditions of a write are met. Throws PreconditionFailed. */
export type Preconditions = <T>(request: FastifyRequest, handle: () => Promise<T>) => Promise<T>

/** Headers that describe a body, or that are conditions themselves. */
const ownHeaders = /^(?:content-|transfer-|if-|expect$|connection$|range$)/

export function createPreconditions(server: FastifyInstance): Preconditions {
  const mutex = createKeyedMutex()
  return async (request, handle) => {
    const ifMatch = request.headers['if-match']
    if (ifMatch === undefined || request.method === 'GET' || request.method === 'HEAD')
      return await handle()
    // If two writes have the same ETag, the second one must see the first one's change.
    return await mutex(request.url.split('?', 1)[0]!, async () => {
      const etag = await currentEtag(server, request)
      if (etag === null || !isListed(ifMatch, etag))
        throw new PreconditionFailed(failureBody(412).message)
      return await handle()
    })
  }
}

/** The ETag of a GET of the same URL with the same credentials; null if there is no such response. */
async function currentEtag(server: FastifyInstance, request: FastifyRequest) {
  const headers = Object.entries(request.headers).filter(([name]) => !ownHeaders.test(name))
  const { statusCode, headers: current } = await server.inject({
    method: 'GET',
    url: request.originalUrl,
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(request.raw.socket.remoteAddress
      ? { remoteAddress: request.raw.socket.remoteAddress }
      : {}),
  })
  if (statusCode !== 200) return null
  return typeof current.etag === 'string' ? current.etag : null
}

/**
 * Compares weak tags by value, although under RFC 9110 they never match: the responses are JSON, and their
 * tags are weak only because of compression.
 */
function isListed(list: string, etag: string): boolean {
  if (list.trim() === '*') return true
  const tags: string[] = list.match(/"[^"]*"/g) ?? []
  return tags.includes(etag.replace(/^W\//, ''))
}
