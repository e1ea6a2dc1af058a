// Mounts one route: its hooks, schemas and handler.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ErrorBody, isBytes, type Static } from '../base/schema.ts'
import { authorize } from './authorize.ts'
import { compressible } from './cache-headers.ts'
import type { Deps } from './deps.ts'
import type { Dialect } from './dialect/dialect.ts'
import { databaseUnavailable } from './error-response.ts'
import { emptyBody, inputOf } from './exchange.ts'
import { bodyLimit, maxBodyBytes } from './limits/body-limit.ts'
import { admitted, type ListGate } from './limits/list-gate.ts'
import type { RateLimiter } from './limits/rate-limit.ts'
import type { Preconditions } from './preconditions.ts'
import { endpoints, type Route, RouteResponse, routerPath } from './route.ts'

type MountOptions = {
  deps: Deps
  lists: ListGate
  limiter: RateLimiter
  preconditions: Preconditions
  dialect: Dialect
}

export function mountRoute(
  server: FastifyInstance,
  route: Route,
  { deps, lists, limiter, preconditions, dialect }: MountOptions,
) {
  const identify = authorize(route, deps, { limiter, dialect })
  const run = admitted(route, deps, lists)
  const bounded = <T>(work: () => Promise<T>, abandoned?: () => void) =>
    route.withoutDatabase
      ? work()
      : deps.monitor.whileAvailable(work, {
          ...{ error: databaseUnavailable, discard: destroyBody },
          ...(abandoned ? { abandoned } : {}),
        })
  for (const { method, path, whenFull } of endpoints(route)) {
    server.route({
      method,
      url: routerPath(path),
      ...(whenFull ? { constraints: { full: 'true' } } : {}),
      schema: {
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { querystring: route.query } : {}),
        ...(route.body ? { body: route.body } : {}),
        response: { ...responseSchemas(route), ...dialect.errorSchemas },
      },
      onRequest: (request, reply) => bounded(() => identify(request, reply)),
      bodyLimit: route.multipart ? maxBodyBytes : bodyLimit(route),
      ...(isCompressed(route.responses[200]) ? { compress: false } : {}),
      config: {
        ...(route.protocol ? { protocol: route.protocol } : {}),
        isPersonal: route.permission !== 'public',
        ...(route.multipart?.isXml ? { hasXmlBody: true } : {}),
      },
      ...(route.bodyOptional ? { preValidation: addEmptyObject } : {}),
      ...(route.guesses ? { preHandler: limitGuesses(route.guesses, limiter) } : {}),
      handler: async (request, reply) => {
        const { input, abandon } = inputOf(request, reply)
        const handle = async () => {
          try {
            return await run(input)
          } finally {
            if (route.method !== 'GET') deps.openBooks.forget()
          }
        }
        const result = await bounded(() => preconditions(request, handle), abandon)
        if (result instanceof RouteResponse) {
          reply.code(result.status as number).headers(result.headers)
          // Bypasses the JSON serializer: the text has a media type of its own.
          if (typeof result.body === 'string') reply.serializer(String)
          return reply.send(bodyOf(result, { route, request, dialect }))
        }
        const status = Number(Object.keys(route.responses)[0])
        reply.code(status)
        return reply.send(status === 204 ? emptyBody(request) : result)
      },
    })
  }
}

/** Binary media types, which compression does not shrink. */
const isCompressed = (schema: unknown) =>
  isBytes(schema) && !schema.bytes.every(type => compressible.test(type))

function limitGuesses(whose: NonNullable<Route['guesses']>, limiter: RateLimiter) {
  return async ({ ip, body, params, identity }: FastifyRequest) => {
    if (whose === 'address') {
      if ((body as { email?: string }).email !== undefined)
        await limiter.consumeAddressChange(identity!.account.id)
      return
    }
    if (whose === 'own') {
      const isOwn = (params as { id?: string }).id === identity!.account.id
      if (!isOwn || (body as { password?: string }).password === undefined) return
    }
    const { username } = whose === 'username' ? (body as { username: string }) : identity!.account
    await limiter.consumeSignIn(ip, username)
  }
}

async function addEmptyObject(request: FastifyRequest) {
  // Not null, which is a body of the wrong type.
  if (request.body === undefined) request.body = {}
}

type Answered = { route: Route; request: FastifyRequest; dialect: Dialect }

/** Errors that a handler returns with their own headers are written like all others. */
function bodyOf({ status, body }: RouteResponse, { route, request, dialect }: Answered): unknown {
  if (status === 204) return emptyBody(request)
  if (route.responses[status as number] !== ErrorBody) return body
  const { message, details } = body as Static<typeof ErrorBody>
  return dialect.errorBody(
    { status: status as number, message, details, retryAfter: null },
    request,
  )
}

/** Releases the body of a result that is not sent. */
function destroyBody(result: unknown) {
  const body = result instanceof RouteResponse ? result.body : result
  if (body instanceof Readable) body.destroy()
}

/**
 * By status, without errors, which the dialect writes. A single success is keyed by its class: an object with
 * statuses as keys has a slot for each lower number, up to 5 kB, which added up to 5 MB for all routes.
 */
function responseSchemas(route: Route) {
  const own = Object.entries(route.responses).filter(
    ([, s]) => s !== null && !isBytes(s) && s !== ErrorBody,
  )
  const isSuccess = ([status]: [string, unknown]) => status.startsWith('2')
  const isSingle = own.filter(isSuccess).length === 1
  return Object.fromEntries(
    own.map(entry => (isSingle && isSuccess(entry) ? ['2xx', entry[1]] : entry)),
  )
}
