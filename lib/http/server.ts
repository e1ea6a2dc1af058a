// HTTP server: mounts the routes with authorization, rate limit, validation and error handling.
import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import multipart from '@fastify/multipart'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { MethodNotAllowed, NotFound, UnsupportedMedia } from '../errors.ts'
import { newId } from '../id.ts'
import { ErrorBody, isBytes, type Static } from '../schema.ts'
import { createAddressResolver, rejectDuplicateHost } from './address.ts'
import { authorize } from './authorize.ts'
import { emptyBody } from './body.ts'
import { bodyLimit, maxBodyBytes, smallBodyBytes } from './body-limit.ts'
import { addEtag, setVary } from './cache-headers.ts'
import { corsDelegator } from './cors.ts'
import type { Deps } from './deps.ts'
import type { Dialect } from './dialect/dialect.ts'
import { native } from './dialect/native.ts'
import {
  databaseUnavailable,
  errorResponse,
  rejectMalformedRequest,
  statusOf,
} from './error-response.ts'
import { inputOf } from './input.ts'
import { acceptOnlyJson } from './json-body.ts'
import { admitted, type ListGate } from './list-gate.ts'
import { createHttpServer, type ReceivePace } from './listen/listener.ts'
import type { PassOn } from './listen/mount.ts'
import { mountApiReference } from './openapi/api-reference.ts'
import { openapiDocument } from './openapi/openapi.ts'
import { createPreconditions, type Preconditions } from './preconditions.ts'
import { openRateLimiter, type RateLimiter } from './rate-limit.ts'
import { logRequests } from './request-log.ts'
import { endpoints, isFull, methodsByPath, type Route, RouteResponse, routerPath } from './route.ts'
import { compileSerializer } from './serialize.ts'

// Not event streams: the compressor would hold events back until its buffer is full.
const compressible = /^application\/(.+\+)?json\b|^text\/(?!event-stream)|\+xml\b/

type ServerOptions = {
  dialect?: Dialect
  receive?: ReceivePace | undefined
  /** Gets requests for other first segments of a path than those of the routes. */
  passOn?: PassOn
}

/** A server that is ready to listen. Closing it waits for running requests. */
export async function openServer(
  { lists, ...deps }: Deps & { lists: ListGate },
  routes: readonly Route[],
  { dialect = native, receive, passOn }: ServerOptions = {},
): Promise<FastifyInstance> {
  const { config } = deps
  const { isMounted } = dialect
  const addresses = createAddressResolver(config, { isMounted })
  const onError = { log: deps.log, dialect }
  const server = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: smallBodyBytes,
    serverFactory: handle => {
      const own = firstSegments(routes, config)
      const listener = passOn ? dispatcher(handle, { passOn, addresses, own }) : handle
      return createHttpServer(listener, receive)
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
    frameworkErrors: (error, request, reply) => errorResponse(onError, error, request, reply),
  })
  server.setValidatorCompiler(dialect.compileValidator as never)
  server.setSerializerCompiler(compileSerializer)
  server.setErrorHandler(async (error, request, reply) => {
    const challenge = statusOf(error) === 401 ? await dialect.challenge(request, deps) : null
    return errorResponse(onError, error, request, reply, challenge)
  })
  acceptOnlyJson(server)
  server.addContentTypeParser(isXml, async ({ routeOptions }: FastifyRequest, body: unknown) => {
    if (routeOptions.config.hasXmlBody) return body
    throw new UnsupportedMedia('Unsupported media type of the body')
  })
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
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', dialect.cacheControl)
    if (!reply.hasHeader('x-ratelimit-limit')) limiter.setFullHeaders(reply)
    setVary(request, reply)
  })
  if (config.api.enable_api_docs && !isMounted) {
    const document = openapiDocument(routes, deps.version)
    await mountApiReference(server, config.api.api_docs_path, document)
  }
  const preconditions: Preconditions = dialect.hasPreconditions
    ? createPreconditions(server)
    : (_request, handle) => handle()
  for (const route of routes) mount(server, route, { deps, lists, limiter, preconditions, dialect })
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

/** Passes on requests for first segments that are not the server's own. */
function dispatcher(
  handle: RequestListener,
  {
    passOn,
    addresses,
    own,
  }: {
    passOn: PassOn
    addresses: Pick<ReturnType<typeof createAddressResolver>, 'firstSegment'>
    own: ReadonlySet<string>
  },
): RequestListener {
  return async (request, response) => {
    const segment = addresses.firstSegment(request)
    if (own.has(segment)) return handle(request, response)
    if (!(await passOn(segment, request, response))) handle(request, response)
  }
}

function firstSegments(routes: readonly Route[], { api }: Deps['config']): ReadonlySet<string> {
  const paths = routes.flatMap(endpoints).map(({ path }) => path)
  return new Set([...paths, api.api_docs_path].map(path => path.split('/')[1]!))
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

const isXml = /^(?:application|text)\/xml(?:;|$)/

type MountOptions = {
  deps: Deps
  lists: ListGate
  limiter: RateLimiter
  preconditions: Preconditions
  dialect: Dialect
}

function mount(
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
        ...(route.opdsVersion ? { opdsVersion: route.opdsVersion } : {}),
        isPersonal: route.permission !== 'public',
        ...(route.multipart?.isXml ? { hasXmlBody: true } : {}),
      },
      ...(route.bodyOptional ? { preValidation: addEmptyObject } : {}),
      ...(route.guesses ? { preHandler: limitGuesses(route.guesses, limiter) } : {}),
      handler: async (request, reply) => {
        const { input, abandon } = inputOf(request, reply)
        const handle = async () => run(input)
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

type Answered = { route: Route; request: FastifyRequest; dialect: Dialect }

/** Errors that a handler returns with headers of their own are written as all others. */
function bodyOf({ status, body }: RouteResponse, { route, request, dialect }: Answered): unknown {
  if (status === 204) return emptyBody(request)
  if (route.responses[status as number] !== ErrorBody) return body
  const { message, details } = body as Static<typeof ErrorBody>
  return dialect.errorBody(
    { status: status as number, message, details, retryAfter: null },
    request,
  )
}

/** Of a result that is not sent. */
function destroyBody(result: unknown) {
  const body = result instanceof RouteResponse ? result.body : result
  if (body instanceof Readable) body.destroy()
}

/**
 * By status, without those of errors, which the dialect writes. A single success is named by its class: an
 * object whose keys are statuses has a slot for each number below, up to 5 kB, which was 5 MB for all routes.
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
