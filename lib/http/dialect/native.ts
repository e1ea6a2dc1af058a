// Dialect of the native API: errors as `{error, message, details}`, credentials in headers, a cookie for reads.
import { requestedCookie } from '../../accounts/cookie.ts'
import { ErrorBody, ErrorOrLimitBody } from '../../base/schema.ts'
import { errorName } from '../error-response.ts'
import { compileValidator } from '../validate.ts'
import type { Dialect } from './dialect.ts'

export const native: Dialect = {
  isMounted: false,
  cacheControl: 'private, no-cache',
  hasPreconditions: true,
  isChallenged: ({ protocol }) => protocol?.challenge !== undefined,
  compileValidator,
  identify: ({ route, request, credential, beforePassword }, { identities }) =>
    identities.identify(
      { headers: request.headers, address: request.ip, credential },
      {
        cookie: route.cookie ? requestedCookie(request.query) : null,
        impersonationAllowed: !route.atRoot,
        beforePassword,
      },
    ),
  challenge: async (request, deps) =>
    (await request.routeOptions.config?.protocol?.challenge?.(request, deps)) ?? null,
  errorBody: ({ status, message, details, retryAfter }) => ({
    error: errorName(status),
    message,
    details,
    ...(retryAfter === null ? {} : { retry_after: retryAfter }),
  }),
  errorSchemas: { '4xx': ErrorOrLimitBody, '5xx': ErrorBody },
}
