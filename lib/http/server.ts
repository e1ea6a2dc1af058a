// HTTP server: mounts the routes with authorization, rate limit, validation and error handling.
import type { RequestListener } from 'node:http'
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
import { MethodNotAllowed, NotFound, UnsupportedMedia } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Log } from '../base/log.ts'
import { isInUrl } from './authorize.ts'
import { addEtag, compressible, setVary } from './cache-headers.ts'
import { createAddressResolver, hostFault } from './client/address.ts'
import { corsDelegator } from './cors.ts'
import type { Deps } from './deps.ts'
import type { Dialect } from './dialect/dialect.ts'
import { native } from './dialect/native.ts'
import { errorResponse, statusOf } from './error-response.ts'
import { acceptOnlyJson } from './json/body.ts'
import { compileSerializer } from './json/serialize.ts'
import { smallBodyBytes } from './limits/body-limit.ts'
import type { ListGate } from './limits/list-gate.ts'
import { openRateLimiter, type RateLimiter } from './limits/rate-limit.ts'
import { createHttpServer, type ReceivePace } from './listen/listener.ts'
import { limitMalformedRequests } from './listen/malformed.ts'
import type { PassOn } from './listen/mount.ts'
import { mountRoute } from './mount-route.ts'
import { mountApiReference } from './openapi/api-reference.ts'
import { openapiDocument } from './openapi/openapi.ts'
import { createPreconditions, type Preconditions } from './preconditions.ts'
import type { Protocol } from './protocol.ts'
import { logRequests } from './request-log.ts'
import { endpoints, isFull, methodsByPath, type Route } from './route.ts'

type ServerOptions = {
  dialect?: Dialect
  receive?: ReceivePace | undefined
  /** Receives requests whose first path segment is not one of the routes'. */
  passOn?: PassOn
  web?: WebPages | undefined
}

/** Without its notes: where the server listens is stated by the start, for all addresses. */
const frameworkLog = (log: Log): FastifyBaseLogger =>
  log.isLevelEnabled('warn') ? log.child({}, { level: 'warn' }) : log

/** A server that is ready to listen. Closing it waits for running requests. */
export async function openServer(
  { lists, ...deps }: Deps & { lists: ListGate },
  routes: readonly Route[],
  { dialect = native, receive, passOn, web }: ServerOptions = {},
): Promise<FastifyInstance> {
  const { config } = deps
  const { isMounted } = dialect
  const own = firstSegments(routes, config)
  const addresses = createAddressResolver(config, { isMounted, protocols: protocolsOf(routes) })
  const onError = { log: deps.log, dialect }
  const limiter = openRateLimiter(deps)
  const server = fastify({
    loggerInstance: frameworkLog(deps.log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: smallBodyBytes,
    serverFactory: handle => {
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
    clientErrorHandler: limitMalformedRequests(limiter),
    frameworkErrors: async (error, request, reply) => {
      const limited = await limitUnrouted(limiter, request, reply)
      errorResponse(onError, limited ?? error, request, reply)
    },
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
    throw new UnsupportedMedia('The media type of the body is not supported')
  })
  addresses.decorate(server)
  logRequests(server, routes, deps.log)
  server.addHook('onRequest', async (request, reply) => {
    const fault = hostFault(request.raw)
    if (fault !== null) throw (await limitUnrouted(limiter, request, reply)) ?? fault
  })
  if (config.api.cors_enabled) await server.register(cors, { delegator: corsDelegator(config.api) })
  await server.register(multipart, {
    limits: { fileSize: config.api.upload_mb * 1024 * 1024, files: 1, fields: 10, parts: 11 },
  })
  server.addHook('preParsing', refuseEncodedBody)
  server.addHook('onSend', addEtag)
  await server.register(compress, {
    threshold: 1024,
    encodings: ['gzip', 'deflate', 'identity'],
    customTypes: compressible,
    globalDecompression: false,
  })
  server.addHook('onClose', async () => limiter.close())
  server.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (isInUrl(request.credential)) reply.header('referrer-policy', 'no-referrer')
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
  for (const route of routes)
    mountRoute(server, route, { deps, lists, limiter, preconditions, dialect })
  web?.mount(server)
  const allowedMethods = methodsByPath(routes)
  server.setNotFoundHandler(async (request, reply) => {
    if (web && isNavigation(request) && !own.has(addresses.firstSegment(request.raw)))
      return web.sendDocument(request, reply)
    await limiter.consume({ request, reply, accountId: null }, 'default')
    const allowed = allowedMethods(request.url)
    if (allowed.length === 0) throw new NotFound('Unknown path')
    reply.header('allow', allowed.join(', '))
    throw new MethodNotAllowed(`${request.method} is not allowed here`)
  })
  return server
}

async function refuseEncodedBody({ headers }: FastifyRequest): Promise<void> {
  const { 'content-encoding': encoding = 'identity' } = headers
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new UnsupportedMedia('Bodies with a Content-Encoding are not accepted')
}

/**
 * Sets headers and takes a token for a request that reaches no route and that hooks may miss; returns the
 * failure of the limit, if any.
 */
async function limitUnrouted(limiter: RateLimiter, request: FastifyRequest, reply: FastifyReply) {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  return await limiter
    .consume({ request, reply, accountId: null }, 'default')
    .catch((failure: unknown) => failure)
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

const protocolsOf = (routes: readonly Route[]): readonly Protocol[] => [
  ...new Set(routes.flatMap(({ protocol }) => protocol ?? [])),
]

function firstSegments(routes: readonly Route[], { api }: Deps['config']): ReadonlySet<string> {
  const paths = routes.flatMap(endpoints).map(({ path }) => path)
  return new Set([...paths, api.api_docs_path].map(path => path.split('/')[1]!))
}

/** Router constraint of aliases that serve `full=true`; other routes ignore it. */
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

export type WebPages = {
  mount(server: FastifyInstance): void
  /** The application's HTML document, which shows the view of the requested address. */
  sendDocument(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  /** Builds the application; failures are logged. */
  prepare(): Promise<void>
}

/** Whether a browser is opening an address: other clients of unknown paths get a JSON error. */
const isNavigation = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')
