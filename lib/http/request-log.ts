// What every request leaves behind: an id in its answer, a line in the log, figures for the metrics.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import { countRequest, requestsInFlight } from '../metrics/http.ts'
import { measureProcess } from '../metrics/process.ts'
import { addresses, type Route, routerPath } from './route.ts'

/** Where a request went, in words of which there are only so many. */
type Place = {
  path: string
  resource: string
  bucket: string
  isQuiet: boolean
  isCatalogue: boolean
}

const nowhere: Place = {
  path: 'none',
  resource: 'none',
  bucket: 'default',
  isQuiet: false,
  isCatalogue: false,
}
// What probes and scrapers ask every few seconds would drown the rest.
const quiet = /^(\/api\/v1)?\/(health|metrics)\b/
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const clientGone = 499

/** To be called before anything else is hooked to the server. */
export function observe(server: FastifyInstance, routes: readonly Route[], log: Log) {
  measureProcess()
  const places = placesOf(routes)
  server.addHook('onRequest', (request, reply, done) => {
    const began = performance.now()
    const { socket } = request.raw
    const sentBefore = socket.bytesWritten
    reply.header('x-request-id', request.id)
    requestsInFlight.inc()
    // The answer is over for better or worse; Fastify's own hooks do not see all of the latter.
    reply.raw.once('close', () => {
      requestsInFlight.dec()
      const method = methodOf(request)
      const place = places.get(`${method} ${request.routeOptions.url}`) ?? nowhere
      const ms = performance.now() - began
      const status = reply.raw.headersSent ? reply.raw.statusCode : clientGone
      note(log, { request, place, status, ms })
      countRequest({
        method,
        route: place.path,
        resource: place.resource,
        status,
        ms,
        bytes: Math.max(0, socket.bytesWritten - sentBefore),
        isStream: isStream(reply),
        bucket: bucketOf(request, place),
        means: meansOf(request, place),
        isKnown: request.identity != null || (isLogin(place) && status < 400),
      })
    })
    done()
  })
}

// HEAD is served by the route of GET, and strangers send what they like.
function methodOf({ method }: FastifyRequest): string {
  if (method === 'HEAD') return 'GET'
  return methods.has(method) ? method : 'other'
}

type Noted = { request: FastifyRequest; place: Place; status: number; ms: number }

// Never the address as it was sent: secrets travel in queries, and names in paths.
function note(log: Log, { request, place, status, ms }: Noted) {
  const level = place.isQuiet ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    {
      requestId: request.id,
      method: request.method,
      route: place.path,
      status,
      ms: Math.round(ms * 10) / 10,
      userId: request.identity?.account.id,
    },
    'request',
  )
}

/** By method and the router's spelling of the address. A further address of a route counts as its own. */
function placesOf(routes: readonly Route[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const route of routes) {
    const all = addresses(route)
    const { path } = all[0]!
    const place = {
      path,
      resource: path.replace(/^\/api\/v1/, '').split('/')[1] ?? 'none',
      bucket: route.bucket ?? 'default',
      isQuiet: quiet.test(path),
      isCatalogue: route.catalogue !== undefined,
    }
    for (const address of all) places.set(`${address.method} ${routerPath(address.path)}`, place)
  }
  return places
}

function isStream(reply: FastifyReply): boolean {
  return String(reply.raw.getHeader('content-type')).startsWith('text/event-stream')
}

function bucketOf(request: FastifyRequest, place: Place): string {
  const { bucket, isCatalogue } = place
  if (isCatalogue && meansOf(request, place) === null) return 'challenge'
  if (bucket === 'images' || bucket === 'login') return bucket
  return request.identity ? 'authenticated' : 'anonymous'
}

const isLogin = ({ path }: Place) => path === '/api/v1/auth/login'

/** What kind of credentials a request brought; null for none. */
function meansOf({ identity, headers, entered }: FastifyRequest, place: Place): string | null {
  if (identity) return identity.means
  if (entered?.key != null) return 'key'
  if (isLogin(place)) return 'password'
  if (headers.authorization !== undefined)
    return /^\s*basic\b/i.test(headers.authorization) ? 'basic' : 'token'
  if (headers['x-api-key'] !== undefined || headers['x-auth-user'] !== undefined) return 'key'
  return headers.cookie === undefined ? null : 'cookie'
}
