// The HTTP server: mounts the routes in the order credentials, rate limit, permission, schema,
// handler; and holds the one error answer.
import compress from '@fastify/compress'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import multipart from '@fastify/multipart'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { nothing } from '../api/images/image.ts'
import { resources } from '../api/resources.ts'
import { NotFound } from '../errors.ts'
import { newId } from '../id.ts'
import { ErrorBody, isBytes, LimitBody } from '../schema.ts'
import { oneHost, openAddresses } from './address.ts'
import { mountReference } from './api-reference.ts'
import { admit } from './authorize.ts'
import { tagText, vary } from './cache-headers.ts'
import type { Deps } from './deps.ts'
import { errorAnswer, refuseGarbage, statusOf } from './error-response.ts'
import { openLimiter } from './rate-limit.ts'
import { observe } from './request-log.ts'
import { Answer, addresses as addressesOf, type Route, routerPath } from './route.ts'
import { compileSerializer } from './serialize.ts'
import { compileValidator } from './validate.ts'
import { challenge } from './www-authenticate.ts'

const jsonBytes = 1024 * 1024
// What a stream says would wait in the packer for more.
const text = /^application\/(.+\+)?json\b|^text\/(?!event-stream)|\+xml\b/

/** A server that is ready to listen. Closing it lets running requests end. */
export async function openServer(deps: Deps): Promise<FastifyInstance> {
  const { config } = deps
  const addresses = openAddresses(config)
  const server = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: jsonBytes,
    // As long as a header may be: the schema of the route says what is too long, not the router.
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    trustProxy: addresses.isTrusted,
    rewriteUrl: request => addresses.routedUrl(request),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseGarbage,
    frameworkErrors: (error, request, reply) => errorAnswer(deps.log, error, request, reply),
  })
  server.setValidatorCompiler(compileValidator as never)
  server.setSerializerCompiler(compileSerializer)
  server.setErrorHandler(async (error, request, reply) => {
    const asked = statusOf(error) === 401 ? await challenge(deps, request) : null
    return errorAnswer(deps.log, error, request, reply, asked)
  })
  readOnlyJson(server)
  addresses.tell(server)
  observe(server, resources, deps.log)
  server.addHook('onRequest', async ({ raw }) => oneHost(raw))
  if (config.api.cors_enabled) await server.register(cors, { delegator: corsOf(config.api) })
  await server.register(multipart, {
    limits: { fileSize: config.api.upload_mb * 1024 * 1024, files: 1, fields: 10, parts: 11 },
  })
  server.addHook('onSend', tagText)
  await server.register(compress, {
    threshold: 1024,
    encodings: ['gzip', 'deflate', 'identity'],
    customTypes: text,
    globalDecompression: false,
  })
  const limiter = openLimiter(deps)
  server.addHook('onClose', async () => limiter.close())
  server.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (request.entered?.key != null) reply.header('referrer-policy', 'no-referrer')
    if (deps.presence.isLeaving) reply.header('connection', 'close')
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache')
    if (!reply.hasHeader('x-ratelimit-limit')) limiter.showFull(reply)
    vary(request, reply)
  })
  if (config.api.enable_api_docs)
    await mountReference(server, config.api.api_docs_path, deps.version)
  for (const route of resources) mount(server, route, { deps, limiter })
  server.setNotFoundHandler(async (request, reply) => {
    await limiter.pay({ request, reply, accountId: null }, 'default')
    throw new NotFound('There is nothing at this address')
  })
  return server
}

type Mounting = { deps: Deps; limiter: ReturnType<typeof openLimiter> }

function mount(server: FastifyInstance, route: Route, { deps, limiter }: Mounting) {
  const gate = admit(route, deps, limiter)
  for (const { method, path } of addressesOf(route)) {
    server.route({
      method,
      url: routerPath(path),
      schema: {
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { querystring: route.query } : {}),
        ...(route.body ? { body: route.body } : {}),
        response: responseSchemas(route),
      },
      onRequest: gate,
      ...(isPacked(route.responses[200]) ? { compress: false } : {}),
      config: {
        ...(route.catalogue ? { catalogue: route.catalogue } : {}),
        isPersonal: route.permission !== 'public',
      },
      ...(route.bodyOptional ? { preValidation: emptyBody } : {}),
      handler: async (request, reply) => {
        const result = await route.handle(inputOf(request, reply) as never, deps)
        if (result instanceof Answer) {
          reply.code(result.status as number).headers(result.headers)
          // Text of a type of its own goes as it is: no type of OPDS has the charset Fastify adds.
          if (typeof result.body === 'string') reply.serializer(String)
          return reply.send(result.status === 204 ? nothing(request) : result.body)
        }
        const status = Number(Object.keys(route.responses)[0])
        reply.code(status)
        return reply.send(status === 204 ? nothing(request) : result)
      },
    })
  }
}

/** Bytes that compressing makes no smaller. */
const isPacked = (schema: unknown) =>
  isBytes(schema) && !schema.bytes.every(type => text.test(type))

async function emptyBody(request: FastifyRequest) {
  request.body ??= {}
}

function inputOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    identity: request.identity,
    viewer: request.identity?.viewer,
    request,
    reply,
    get signal() {
      return untilGone(reply)
    },
  }
}

function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  // It may have left while it was identified: then nothing more is heard of it.
  if (reply.raw.destroyed && !reply.raw.writableFinished) gone.abort()
  return gone.signal
}

/** JSON under any of its names; an empty body is none. Anything else is 415. */
function readOnlyJson(server: FastifyInstance) {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser<string>(
    /^application\/(?:[\w.-]{1,40}\+)?json(?:;|$)/,
    { parseAs: 'string' },
    (request, body, done) => (body === '' ? done(null, undefined) : parse(request, body, done)),
  )
}

/** A reload may name other origins. */
function corsOf(api: Deps['config']['api']) {
  let origins = api.cors_origins
  let options = corsOptions(origins)
  return (_request: unknown, answer: (error: null, options: FastifyCorsOptions) => void) => {
    if (api.cors_origins !== origins) {
      origins = api.cors_origins
      options = corsOptions(origins)
    }
    answer(null, options)
  }
}

function corsOptions(origins: string) {
  const listed = origins.split(',').map(origin => origin.trim())
  const any = listed.includes('*')
  return {
    origin: any ? '*' : listed,
    // Cookies only for origins that were named.
    credentials: !any,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'accept',
      'x-api-key',
      'x-auth-user',
      'if-match',
      'if-none-match',
      'last-event-id',
      'range',
    ],
    exposedHeaders: [
      'link',
      'etag',
      'retry-after',
      'content-disposition',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'content-range',
      'accept-ranges',
      'x-request-id',
    ],
    maxAge: 600,
    // Without Origin it is a plain question for the methods, not a broken preflight.
    strictPreflight: false,
  }
}

function responseSchemas(route: Route) {
  const own = Object.entries(route.responses).filter(([, s]) => s !== null && !isBytes(s))
  return { ...Object.fromEntries(own), 429: LimitBody, '4xx': ErrorBody, '5xx': ErrorBody }
}
