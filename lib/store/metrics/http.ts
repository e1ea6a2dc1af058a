// HTTP metrics: requests, durations, response sizes, rate limit rejections, authentication.
import { counter, gauge, histogram } from './registry.ts'

const requests = counter(
  'http_server_requests_total',
  'Requests, by the first path segment and status class; 4xx also when the client disconnected.',
  ['resource', 'status'],
)
// Not by status, which would make this a third of all series.
const routeRequests = counter(
  'http_server_route_requests_total',
  'Requests, by method and route template.',
  ['method', 'route'],
)
// Not by route: histograms for all routes would make up most of the series.
const durations = histogram(
  'http_server_request_duration_seconds',
  'Time from the request to the last byte of the response, by the first path segment; without event streams.',
  { labels: ['resource'], buckets: [0.005, 0.025, 0.1, 0.5, 5] },
)
export const requestsInFlight = gauge(
  'http_server_requests_in_flight',
  'Requests in progress, including event streams.',
)
const sentBytes = counter(
  'http_server_response_bytes_total',
  'Bytes of responses including headers, by the first path segment.',
  ['resource'],
)
const rejections = counter(
  'rate_limit_rejections_total',
  'Requests rejected by the rate limit, by token bucket.',
  ['bucket'],
)
const attempts = counter('auth_attempts_total', 'Requests with credentials, by kind and outcome.', [
  'method',
  'outcome',
])

export type CompletedRequest = {
  method: string
  /** Path template. */
  route: string
  /** First path segment. */
  resource: string
  status: number
  ms: number
  bytes: number
  isStream: boolean
  /** Token bucket of the rate limit. */
  bucket: string
  /** Kind of the credentials; null without credentials. */
  credentialKind: string | null
  isAuthenticated: boolean
}

/** Counts a request whose response is complete. */
export function countRequest(request: CompletedRequest) {
  const { method, route, resource, status, credentialKind } = request
  requests.inc({ resource, status: `${Math.floor(status / 100)}xx` })
  routeRequests.inc({ method, route })
  sentBytes.inc({ resource }, request.bytes)
  if (!request.isStream) durations.observe({ resource }, request.ms / 1000)
  if (status === 429) rejections.inc({ bucket: request.bucket })
  if (credentialKind === null) return
  if (request.isAuthenticated) attempts.inc({ method: credentialKind, outcome: 'accepted' })
  else if (status === 401) attempts.inc({ method: credentialKind, outcome: 'refused' })
}
