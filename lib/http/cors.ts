// Cross-origin resource sharing (CORS) options, read from the configuration on each request.
import type { FastifyCorsOptions } from '@fastify/cors'
import type { Config } from '../store/config/config.ts'

/** A delegator for @fastify/cors: a configuration reload may change the origins. */
export function corsDelegator(api: Config['api']) {
  let origins = api.cors_origins
  let options = corsOptions(origins)
  return (_request: unknown, callback: (error: null, options: FastifyCorsOptions) => void) => {
    if (api.cors_origins !== origins) {
      origins = api.cors_origins
      options = corsOptions(origins)
    }
    callback(null, options)
  }
}

const allowedHeaders = [
  ...['authorization', 'content-type', 'accept', 'x-api-key', 'x-auth-token', 'x-auth-user'],
  ...['x-requested-with', 'if-match', 'if-none-match', 'last-event-id', 'range'],
]
const exposedHeaders = [
  ...['link', 'etag', 'retry-after', 'content-disposition', 'x-auth-token', 'x-ratelimit-limit'],
  ...['x-ratelimit-remaining', 'x-ratelimit-reset', 'content-range', 'accept-ranges'],
  'x-request-id',
]

function corsOptions(list: string) {
  const origins = list.split(',').map(origin => origin.trim())
  const isAny = origins.includes('*')
  return {
    origin: isAny ? '*' : origins,
    // Cookies only for origins listed by name.
    credentials: !isAny,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowedHeaders,
    exposedHeaders,
    maxAge: 600,
    // OPTIONS without Origin queries the methods; it is not a broken preflight.
    strictPreflight: false,
  }
}
