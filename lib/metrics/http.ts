// Requests: how many, how fast, who was turned away.
import { counter, gauge, histogram } from './registry.ts'

const requests = counter(
  'http_server_requests_total',
  'Requests, by route template and class of the status; 4xx also when the client left before the answer.',
  ['method', 'route', 'status'],
)
// Not by route: a histogram of every route would be most of what is scraped.
const durations = histogram(
  'http_server_request_duration_seconds',
  'Time from the request to the last byte of its answer, by the first word of the path; streams of events are left out.',
  { labels: ['resource'], buckets: [0.005, 0.025, 0.1, 0.5, 1, 5] },
)
export const requestsInFlight = gauge(
  'http_server_requests_in_flight',
  'Requests that wait for the end of their answer, streams of events included.',
)
const sentBytes = counter(
  'http_server_response_bytes_total',
  'Bytes of answers with their headers, by the first word of the path.',
  ['resource'],
)
const rejections = counter(
  'rate_limit_rejections_total',
  'Requests that were refused because their bucket was empty.',
  ['bucket'],
)
const attempts = counter(
  'auth_attempts_total',
  'Requests with credentials, by their kind and whether they were good.',
  ['method', 'outcome'],
)

export type Ended = {
  method: string
  /** Template of the address. */
  route: string
  /** First word of the path. */
  resource: string
  status: number
  ms: number
  bytes: number
  isStream: boolean
  /** What the rate limit counted it for. */
  bucket: string
  /** Which credentials came with it; null for none. */
  means: string | null
  isKnown: boolean
}

/** Counts one request whose answer is over. */
export function countRequest(ended: Ended) {
  const { method, route, resource, status, means } = ended
  requests.inc({ method, route, status: `${Math.floor(status / 100)}xx` })
  sentBytes.inc({ resource }, ended.bytes)
  if (!ended.isStream) durations.observe({ resource }, ended.ms / 1000)
  if (status === 429) rejections.inc({ bucket: ended.bucket })
  if (means === null) return
  if (ended.isKnown) attempts.inc({ method: means, outcome: 'accepted' })
  else if (status === 401) attempts.inc({ method: means, outcome: 'refused' })
}
