// Dialect of the Komga-compatible API: Spring Boot's errors, lenient parameters, its challenge and cache headers.
import { STATUS_CODES } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Dialect, ErrorContent } from '../../../http/dialect/dialect.ts'
import { native } from '../../../http/dialect/native.ts'
import { compileLenientValidator } from './http/read-request.ts'
import { createAuthentication } from './session/authenticate.ts'

/** Browser interfaces ask for the password themselves; with the header, the browser would. */
const isScript = ({ headers }: FastifyRequest) =>
  String(headers['x-requested-with'] ?? '').toLowerCase() === 'xmlhttprequest'

const basic = { headers: { 'www-authenticate': 'Basic realm="Realm"' }, document: null }

/** Clients revalidate everything, images too. */
const cacheControl = 'max-age=0, must-revalidate, private'

type Response = { headers: Record<string, string> }

/** Adds headers that make clients revalidate the response; `lastModified` is an HTTP date. */
export function revalidated<T extends Response>(response: T, lastModified?: string): T {
  Object.assign(response.headers, {
    'cache-control': cacheControl,
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified }),
  })
  return response
}

export const createKomgaDialect = (): Dialect => ({
  isMounted: true,
  cacheControl,
  hasPreconditions: false,
  isChallenged: () => true,
  compileValidator: compileLenientValidator,
  identify: createAuthentication(),
  challenge: async (request, deps) =>
    isScript(request) ? null : ((await native.challenge(request, deps)) ?? basic),
  errorBody,
  errorSchemas: {},
})

type Detail = { path: string; message: string }

export function errorBody(
  { status, message, details }: ErrorContent,
  { originalUrl = '' }: FastifyRequest,
) {
  const violations = status === 400 ? violationsOf(details) : null
  if (violations) return { violations }
  return {
    timestamp: `${new Date().toISOString().slice(0, 19)}Z`,
    status,
    error: STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error'),
    message,
    path: originalUrl.split('?', 1)[0]!,
  }
}

/** Null unless the details are invalid request fields. */
function violationsOf(details: unknown) {
  if (!Array.isArray(details) || details.length === 0) return null
  return (details as Detail[]).every(isField) ? (details as Detail[]).map(toViolation) : null
}

const isField = ({ path }: Partial<Detail>) => /^(?:body|query|path)(?:\/|$)/.test(path ?? '')
const toViolation = ({ path, message }: Detail) => ({
  fieldName: path.split('/').slice(1).join('.') || path,
  message,
})
