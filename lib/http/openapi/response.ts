// Responses of the OpenAPI document: media types, headers, and the shared error responses.
import { type Bytes, ErrorBody, isBytes, LimitBody, type TSchema } from '../../base/schema.ts'
import { errorName } from '../error-response.ts'
import type { ProtocolDocument } from '../protocol.ts'
import type { Route } from '../route.ts'
import { type AnnotatedSchema, type Json, responseSchema, type Schemas, sorted } from './schema.ts'

const statusDescriptions: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted',
  204: 'Success, no content',
  206: 'Partial content',
  304: 'Not modified',
  400: 'Invalid request',
  401: 'Authentication required',
  403: 'Missing permission',
  404: 'Not found, or not visible to this account',
  409: 'Conflict with the current state of the resource',
  412: 'Precondition failed',
  413: 'Content too large',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  422: 'The file of the book cannot be read',
  429: 'Too many requests',
  502: 'A source of metadata or releases failed',
  503: 'Temporarily unavailable',
}

const integer = { type: 'integer', minimum: 0 }
const string = { type: 'string' }

/** Component headers, by the name in `components.headers`. */
export const responseHeaders = {
  RateLimitLimit: { description: 'Maximum number of requests (burst size).', schema: integer },
  RateLimitRemaining: { description: 'Requests remaining.', schema: integer },
  RateLimitReset: { description: 'Seconds until a token is available.', schema: integer },
  RetryAfter: { description: 'Seconds until the request can be repeated.', schema: integer },
  ETag: { description: 'Entity tag of the response, for `If-None-Match`.', schema: string },
  Link: {
    description: 'Links to the first, previous, next and last page (RFC 8288).',
    schema: string,
  },
}

const header = (name: keyof typeof responseHeaders) => ({ $ref: `#/components/headers/${name}` })
const rateLimitHeaders = {
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
}
const etagHeader = { ETag: header('ETag') }

/** All responses of a route, by status. */
export function responsesOf(route: Route, schemas: Schemas): Json {
  const responses: Record<string, Json> = {}
  for (const [status, schema] of Object.entries(route.responses)) {
    responses[status] = {
      description: statusDescriptions[status]!,
      headers: {
        ...rateLimitHeaders,
        ...(hasEtag(route, status, schema) ? etagHeader : {}),
        ...(hasLinkHeader(schema) ? { Link: header('Link') } : {}),
        ...(status === '503' ? { 'Retry-After': header('RetryAfter') } : {}),
      },
      ...contentOf(schema, schemas),
    }
  }
  if (route.method === 'GET' && hasEtag(route, '200', route.responses[200]))
    responses[304] ??= reference('NotModified')
  for (const status of errorStatusesOf(route))
    responses[status] ??= reference(errorResponseName(route, status))
  return sorted(responses)
}

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` })

function contentOf(schema: TSchema | Bytes | null | undefined, schemas: Schemas) {
  if (!schema) return {}
  if (isBytes(schema)) {
    const described = schema.schema ? { schema: responseSchema(schema.schema, schemas) } : {}
    // If there are several media types, the description belongs to JSON.
    const isDescribed = (type: string) => schema.bytes.length === 1 || type.includes('json')
    const content = schema.bytes.map(type => [type, isDescribed(type) ? described : {}])
    return { content: Object.fromEntries(content) }
  }
  const { mediaTypes = [] } = schema as unknown as AnnotatedSchema
  return {
    content: {
      'application/json': { schema: responseSchema(schema, schemas) },
      ...Object.fromEntries(mediaTypes.map(type => [type, { schema: string }])),
    },
  }
}

// JSON and other text gets a weak ETag (cache-headers.ts); file routes declare 304 themselves.
function hasEtag(route: Route, status: string, schema: TSchema | Bytes | null | undefined) {
  if (route.method !== 'GET' || (status !== '200' && status !== '304')) return false
  if (304 in route.responses) return true
  if (!schema) return false
  return !isBytes(schema) || schema.bytes.every(type => /json|xml|text\/plain/.test(type))
}

function hasLinkHeader(schema: unknown): boolean {
  const { hasLinkHeader: isPage, anyOf = [] } = (schema ?? {}) as AnnotatedSchema & {
    anyOf?: unknown[]
  }
  return isPage === true || anyOf.some(hasLinkHeader)
}

/** Shared error responses, by the name in `components.responses`. */
export function errorResponses(
  schemas: Schemas,
  protocols: readonly ProtocolDocument[],
): Record<string, Json> {
  const response = (status: string) => ({
    description: statusDescriptions[status]!,
    headers: {
      ...rateLimitHeaders,
      ...(status === '429' ? { 'Retry-After': header('RetryAfter') } : {}),
    },
    content: {
      'application/json': {
        schema: responseSchema(status === '429' ? LimitBody : ErrorBody, schemas),
      },
    },
  })
  const all = errorStatuses.map(status => [componentName(status), response(status)])
  const unauthorized = response('401')
  const challenge = { ...unauthorized, headers: { ...rateLimitHeaders, ...challengeHeaders } }
  return {
    ...Object.fromEntries(all),
    NotModified: {
      description: statusDescriptions[304]!,
      headers: { ...rateLimitHeaders, ...etagHeader },
    },
    ...Object.fromEntries(
      protocols.flatMap(({ challenges }) =>
        Object.entries(challenges).map(([name, type]) => [
          name,
          type === null ? challenge : { ...challenge, content: { [type]: anyObject } },
        ]),
      ),
    ),
  }
}

const anyObject = { schema: { type: 'object' } }
const challengeHeaders = {
  'WWW-Authenticate': { schema: string, description: 'Basic, with the name of the server.' },
  Link: { schema: string, description: 'Link to the authentication document.' },
}

const componentName = (status: string) =>
  status === '429' ? 'TooManyRequests' : errorName(Number(status))

const errorResponseName = (route: Route, status: string) =>
  (status === '401' ? route.protocol?.document?.challengeOf(route.path) : null) ??
  componentName(status)

const errorStatuses = ['400', '401', '403', '404', '409', '412', '413', '415', '429', '503']

function errorStatusesOf(route: Route): string[] {
  const statuses = ['400', '429', '503', ...(route.protocol?.document?.statuses ?? [])]
  if (route.permission !== 'public' || route.body) statuses.push('401', '403')
  if (route.params || route.body) statuses.push('404')
  if (route.body || route.multipart) statuses.push('413', '415')
  if (route.method !== 'GET') statuses.push('409', '412')
  return statuses
}
