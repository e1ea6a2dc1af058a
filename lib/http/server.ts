// HTTP server: mounts the routes with authorization, rate limit, validation and error handling.
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import multipart from '@fastify/multipart'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { MethodNotAllowed, NotFound, UnsupportedMedia } from '../errors.ts'
import { newId } from '../id.ts'
import { ErrorBody, isBytes, LimitBody } from '../schema.ts'
import { createAddressResolver, rejectDuplicateHost } from './address.ts'
import { authorize } from './authorize.ts'
import { emptyBody } from './body.ts'
import { bodyLimit, maxBodyBytes, smallBodyBytes } from './body-limit.ts'
import { addEtag, setVary } from './cache-headers.ts'
import { corsDelegator } from './cors.ts'
import type { Deps } from './deps.ts'
import { errorResponse, rejectMalformedRequest, statusOf } from './error-response.ts'
import { acceptOnlyJson } from './json-body.ts'
import { admitted, type ListGate } from './list-gate.ts'
import { mountApiReference } from './openapi/api-reference.ts'
import { openapiDocument } from './openapi/openapi.ts'
import { createPreconditions, type Preconditions } from './preconditions.ts'
import { openRateLimiter, type RateLimiter } from './rate-limit.ts'
import { logRequests } from './request-log.ts'
import { endpoints, isFull, methodsByPath, type Route, RouteResponse, routerPath } from './route.ts'
import { compileSerializer } from './serialize.ts'
import { compileValidator } from './validate.ts'
import { authenticationChallenge } from './www-authenticate.ts'

/** Of receiving a request; long enough for a cover on a slow link. Responses may take any time. */
const receivePace = { requestTimeoutMs: 5 * 60_000, checkIntervalMs: 30_000 }
/** How long a request may take to arrive, and how often that is checked. */
export type ReceivePace = typeof receivePace
// Far more than clients need, and fewer than the file descriptors of a process.
const maxConnections = 4096
// Not event streams: the compressor would hold events back until its buffer is full.
const compressible = /^application\/(.+\+)?json\b|^text\/(?!event-stream)|\+xml\b/

/** A server that is ready to listen. Closing it waits for running requests. */
export async function openServer(
  { lists, ...deps }: Deps & { lists: ListGate },
  routes: readonly Route[],
  { requestTimeoutMs, checkIntervalMs }: ReceivePace = receivePace,
): Promise<FastifyInstance> {
  const { config } = deps
  const addresses = createAddressResolver(config)
  const server = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: smallBodyBytes,
    requestTimeout: requestTimeoutMs,
    http: {
      // Requests are not interrupted before the time for their headers has passed.
      headersTimeout: Math.min(60_000, requestTimeoutMs),
      connectionsCheckingInterval: checkIntervalMs,
    },
    routerOptions: {
      // The maximum length of a header: route schemas limit parameters, not the router.
      maxParamLength: 16_384,
      ignoreTrailingSlash: true,
      constraints: { full: fullConstraint },
    },
    trustProxy: addresses.isTrusted,
    rewriteUrl: request => addresses.routedUrl(request),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: rejectMalformedRequest,
    frameworkErrors: (error, request, reply) => errorResponse(deps.log, error, request, reply),
  })
  server.server.maxConnections = maxConnections
  server.setValidatorCompiler(compileValidator as never)
  server.setSerializerCompiler(compileSerializer)
  server.setErrorHandler(async (error, request, reply) => {
    const challenge = statusOf(error) === 401 ? await authenticationChallenge(deps, request) : null
    return errorResponse(deps.log, error, request, reply, challenge)
  })
  acceptOnlyJson(server)
  addresses.decorate(server)
  logRequests(server, routes, deps.log)
  server.addHook('onRequest', async ({ raw }) => rejectDuplicateHost(raw))
  if (config.api.cors_enabled) await server.register(cors, { delegator: corsDelegator(config.api) })
  await server.register(multipart, {
    limits: { fileSize: config.api.upload_mb * 1024 * 1024, files: 1, fields: 10, parts: 11 },
  })
  server.addHook('preParsing', async ({ headers }) => {
    const { 'content-encoding': encoding = 'identity' } = headers
    if (encoding.trim().toLowerCase() !== 'identity')
      throw new UnsupportedMedia('Bodies with a Content-Encoding are not accepted')
  })
  server.addHook('onSend', addEtag)
  await server.register(compress, {
    threshold: 1024,
    encodings: ['gzip', 'deflate', 'identity'],
    customTypes: compressible,
    globalDecompression: false,
  })
  const limiter = openRateLimiter(deps)
  server.addHook('onClose', async () => limiter.close())
  server.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (request.cataloguePath?.apiKey != null) reply.header('referrer-policy', 'no-referrer')
    if (deps.lifecycle.isShuttingDown) reply.header('connection', 'close')
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache')
    if (!reply.hasHeader('x-ratelimit-limit')) limiter.setFullHeaders(reply)
    setVary(request, reply)
  })
  if (config.api.enable_api_docs) {
    const document = openapiDocument(routes, deps.version)
    await mountApiReference(server, config.api.api_docs_path, document)
  }
  const preconditions = createPreconditions(server)
  for (const route of routes) mount(server, route, { deps, lists, limiter, preconditions })
  const allowedMethods = methodsByPath(routes)
  server.setNotFoundHandler(async (request, reply) => {
    await limiter.consume({ request, reply, accountId: null }, 'default')
    const allowed = allowedMethods(request.url)
    if (allowed.length === 0) throw new NotFound('Unknown path')
    reply.header('allow', allowed.join(', '))
    throw new MethodNotAllowed(`${request.method} is not possible here`)
  })
  return server
}

/** Router constraint of the aliases that serve `full=true`; other routes ignore it. */
const fullConstraint = {
  name: 'full',
  storage() {
    const handlers = new Map<string, unknown>()
    return {
      get: (value: string) => handlers.get(value) ?? null,
      set: (value: string, handler: unknown) => void handlers.set(value, handler),
      empty: () => handlers.clear(),
    }
  },
  validate() {},
  deriveConstraint: ({ url = '' }: { url?: string }) => (isFull(url) ? 'true' : undefined),
} as never

type MountOptions = {
  deps: Deps
  lists: ListGate
  limiter: RateLimiter
  preconditions: Preconditions
}

function mount(
  server: FastifyInstance,
  route: Route,
  { deps, lists, limiter, preconditions }: MountOptions,
) {
  const onRequest = authorize(route, deps, limiter)
  const run = admitted(route, deps, lists)
  for (const { method, path, whenFull } of endpoints(route)) {
    server.route({
      method,
      url: routerPath(path),
      ...(whenFull ? { constraints: { full: 'true' } } : {}),
      schema: {
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { querystring: route.query } : {}),
        ...(route.body ? { body: route.body } : {}),
        response: responseSchemas(route),
      },
      onRequest,
      bodyLimit: route.multipart ? maxBodyBytes : bodyLimit(route),
      ...(isCompressed(route.responses[200]) ? { compress: false } : {}),
      config: {
        ...(route.opdsVersion ? { opdsVersion: route.opdsVersion } : {}),
        isPersonal: route.permission !== 'public',
      },
      ...(route.bodyOptional ? { preValidation: addEmptyObject } : {}),
      ...(route.guesses ? { preHandler: limitGuesses(route.guesses, limiter) } : {}),
      handler: async (request, reply) => {
        const handle = async () => run(inputOf(request, reply))
        const result = await preconditions(request, handle)
        if (result instanceof RouteResponse) {
          reply.code(result.status as number).headers(result.headers)
          // Bypasses the JSON serializer: the text has a media type of its own.
          if (typeof result.body === 'string') reply.serializer(String)
          return reply.send(result.status === 204 ? emptyBody(request) : result.body)
        }
        const status = Number(Object.keys(route.responses)[0])
        reply.code(status)
        return reply.send(status === 204 ? emptyBody(request) : result)
      },
    })
  }
}

/** Binary media types, which compression makes no smaller. */
const isCompressed = (schema: unknown) =>
  isBytes(schema) && !schema.bytes.every(type => compressible.test(type))

function limitGuesses(whose: NonNullable<Route['guesses']>, limiter: RateLimiter) {
  return async ({ ip, body, identity }: FastifyRequest) => {
    if (whose === 'address') {
      if ((body as { email?: string }).email !== undefined)
        await limiter.consumeAddressChange(identity!.account.id)
      return
    }
    const { username } = whose === 'caller' ? identity!.account : (body as { username: string })
    await limiter.consumeSignIn(ip, username)
  }
}

async function addEmptyObject(request: FastifyRequest) {
  // Not null, which is a body of a wrong type.
  if (request.body === undefined) request.body = {}
}

function inputOf(request: FastifyRequest, reply: FastifyReply) {
  let signal: AbortSignal | undefined
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    identity: request.identity,
    viewer: request.identity?.viewer,
    request,
    reply,
    get signal() {
      signal ??= disconnectSignal(reply)
      return signal
    },
  }
}

function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  // No `close` event follows when the client disconnected during authentication.
  if (reply.raw.destroyed && !reply.raw.writableFinished) controller.abort()
  return controller.signal
}

function responseSchemas(route: Route) {
  const own = Object.entries(route.responses).filter(([, s]) => s !== null && !isBytes(s))
  return { ...Object.fromEntries(own), 429: LimitBody, '4xx': ErrorBody, '5xx': ErrorBody }
}
