// Dialect of the Komga-compatible API: Spring Boot's errors, lenient parameters, its challenge and cache headers.
import type { FastifyRequest } from 'fastify'
import type { Dialect } from '../../../http/dialect/dialect.ts'
import { native } from '../../../http/dialect/native.ts'
import { errorBody } from './http/error-body.ts'
import { compileLenientValidator } from './http/read-request.ts'
import { createAuthentication } from './session/authenticate.ts'

/** Browser interfaces ask for the password themselves; with the header, the browser would. */
const isScript = ({ headers }: FastifyRequest) =>
  String(headers['x-requested-with'] ?? '').toLowerCase() === 'xmlhttprequest'

const basic = { headers: { 'www-authenticate': 'Basic realm="Realm"' }, document: null }

export const createKomgaDialect = (): Dialect => ({
  isMounted: true,
  cacheControl: 'max-age=0, must-revalidate, private',
  hasPreconditions: false,
  isChallenged: () => true,
  compileValidator: compileLenientValidator,
  identify: createAuthentication(),
  challenge: async (request, deps) =>
    isScript(request) ? null : ((await native.challenge(request, deps)) ?? basic),
  errorBody,
  errorSchemas: {},
})
