// Dialect of the native API: errors as `{error, message, details}`, credentials in headers, a cookie for reads.
import { requestedCookie } from '../../auth/cookie.ts'
import { ErrorBody, ErrorOrLimitBody } from '../../schema.ts'
import { errorName } from '../error-response.ts'
import { compileValidator } from '../validate.ts'
import type { Dialect } from './dialect.ts'
import { authenticationChallenge } from './www-authenticate.ts'

export const native: Dialect = {
  isMounted: false,
  cacheControl: 'private, no-cache',
  hasPreconditions: true,
  isChallenged: ({ opdsVersion }) => opdsVersion !== undefined,
  compileValidator,
  identify: ({ route, request, beforePassword }, { identities }) =>
    identities.identify(
      { headers: request.headers, address: request.ip, key: request.cataloguePath?.apiKey ?? null },
      {
        cookie: route.cookie ? requestedCookie(request.query) : null,
        impersonationAllowed: !route.atRoot,
        koreaderAllowed: route.koreader === true,
        beforePassword,
      },
    ),
  challenge: (request, deps) => authenticationChallenge(deps, request),
  errorBody: ({ status, message, details, retryAfter }) => ({
    error: errorName(status),
    message,
    details,
    ...(retryAfter === null ? {} : { retry_after: retryAfter }),
  }),
  errorSchemas: { '4xx': ErrorOrLimitBody, '5xx': ErrorBody },
}
