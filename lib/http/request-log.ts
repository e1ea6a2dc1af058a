// Request log and metrics: request id, one log line and the counters of each request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Log, logsToTerminal } from '../base/log.ts'
import { countRequest, requestsInFlight } from '../store/metrics/http.ts'
import { startProcessMetrics } from '../store/metrics/process.ts'
import { isInUrl } from './authorize.ts'
import { endpoints, type Route, routerPath } from './route.ts'

/** Labels with a bounded number of values. */
const unknownRoute = {
  ...{ path: 'none', resource: 'none', bucket: 'default' as string },
  ...{ isQuiet: false, isChallenged: false },
}
type RouteLabels = typeof unknownRoute

// Probes and scrapers send a request every few seconds.
const quietPaths = /^(\/api\/v1)?\/(health|metrics)\b/
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const clientClosedRequest = 499

/** Must be called before any other hook is added to the server. */
export function logRequests(server: FastifyInstance, routes: readonly Route[], log: Log) {
  startProcessMetrics()
  const labels = labelsByRoute(routes)
  server.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now()
    const { socket } = request.raw
    const bytesBefore = socket.bytesWritten
    reply.header('x-request-id', request.id)
    requestsInFlight.inc()
    // Fastify's own hooks miss some aborted responses.
    reply.raw.once('close', () => {
      requestsInFlight.dec()
      const method = methodOf(request)
      const route = labels.get(`${method} ${request.routeOptions.url}`) ?? unknownRoute
      const ms = performance.now() - startedAt
      const status = reply.raw.headersSent ? reply.raw.statusCode : clientClosedRequest
      logRequest(log, { request, route, status, ms })
      countRequest({
        method,
        route: route.path,
        resource: route.resource,
        status,
        ms,
        bytes: Math.max(0, socket.bytesWritten - bytesBefore),
        isStream: isStream(reply),
        bucket: bucketOf(request, route),
        credentialKind: credentialKindOf(request, route),
        isAuthenticated: request.identity != null || (isLogin(route) && status < 400),
      })
    })
    done()
  })
}

// HEAD is served by GET's route; other methods are arbitrary client text.
function methodOf({ method }: FastifyRequest): string {
  if (method === 'HEAD') return 'GET'
  return methods.has(method) ? method : 'other'
}

type FinishedRequest = { request: FastifyRequest; route: RouteLabels; status: number; ms: number }

// Omits the URL as sent: queries hold secrets, and paths hold names.
function logRequest(log: Log, { request, route, status, ms }: FinishedRequest) {
  const level = route.isQuiet || (logsToTerminal && status < 400) ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    {
      requestId: request.id,
      method: request.method,
      route: route.path,
      status,
      ms: Math.round(ms * 10) / 10,
      userId: request.identity?.account.id,
      actorId: request.identity?.actorId ?? undefined,
    },
    'request',
  )
}

/** By method and router path. A route's aliases share its labels. */
function labelsByRoute(routes: readonly Route[]): Map<string, RouteLabels> {
  const byRoute = new Map<string, RouteLabels>()
  for (const route of routes) {
    const all = endpoints(route)
    const { path } = all[0]!
    const labels = {
      path,
      resource: path.replace(/^\/api\/v1/, '').split('/')[1] ?? 'none',
      bucket: route.bucket ?? 'default',
      isQuiet: quietPaths.test(path),
      isChallenged: route.protocol?.challenge !== undefined,
    }
    for (const endpoint of all)
      if (!endpoint.whenFull) byRoute.set(`${endpoint.method} ${routerPath(endpoint.path)}`, labels)
  }
  return byRoute
}

function isStream(reply: FastifyReply): boolean {
  return String(reply.raw.getHeader('content-type')).startsWith('text/event-stream')
}

function bucketOf(request: FastifyRequest, route: RouteLabels): string {
  const { bucket, isChallenged } = route
  if (isChallenged && credentialKindOf(request, route) === null) return 'challenge'
  if (bucket === 'images' || bucket === 'login') return bucket
  return request.identity ? 'authenticated' : 'anonymous'
}

const isLogin = ({ path }: RouteLabels) => path === '/api/v1/auth/login'

/** Kind of the credentials in a request; null without any. */
function credentialKindOf({ identity, headers, credential }: FastifyRequest, route: RouteLabels) {
  if (identity) return identity.credentialKind
  if (isInUrl(credential)) return 'key'
  if (isLogin(route)) return 'password'
  if (headers.authorization !== undefined)
    return /^\s*basic\b/i.test(headers.authorization) ? 'basic' : 'token'
  if (headers['x-api-key'] !== undefined || headers['x-auth-user'] !== undefined) return 'key'
  return headers.cookie === undefined ? null : 'cookie'
}
