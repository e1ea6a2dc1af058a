// Sessions of the compatible API: sign-out, and turning a header session into a cookie.
import type { FastifyRequest } from 'fastify'
import { endClientSessions } from '../../../../accounts/client-session.ts'
import { Forbidden } from '../../../../base/errors.ts'
import { ErrorBody } from '../../../../base/schema.ts'
import { type Method, route } from '../../../../http/route.ts'
import {
  mayUseCookies,
  presentedSessions,
  rememberCookie,
  sessionCookie,
  setSessionCookie,
} from './presented.ts'

export const sessions = [
  route('GET /login/set-cookie', {
    operationId: 'convertHeaderSessionToCookie',
    permission: 'auth',
    summary: 'Get the session of X-Auth-Token as a cookie',
    responses: { 204: null },
    async handle({ request, reply, identity }, { config, identities }) {
      const { header } = presentedSessions(request)
      const held = header === null ? null : await identities.identifySession(header)
      if (header !== null && held?.account.id === identity.account.id)
        setSessionCookie({ request, reply }, { config }, { name: sessionCookie, secret: header })
    },
  }),
  ...(['POST', 'GET'] as const).map(signOutRoute),
]

function signOutRoute(method: Method) {
  return route(`${method} /api/logout`, {
    operationId: method === 'GET' ? 'getLogout' : 'postLogout',
    atRoot: true,
    permission: 'public',
    summary: 'Sign out',
    description: '403 if the cookie is sent by a page of another origin.',
    responses: { 204: null, 403: ErrorBody },
    async handle({ request, reply }, { sql, identities, config }) {
      for (const id of await endClientSessions(sql, endedBy(request))) identities.invalidate(id)
      for (const name of [sessionCookie, rememberCookie])
        setSessionCookie({ request, reply }, { config }, { name, secret: '', days: 0 })
    },
  })
}

/** Throws Forbidden if another site may have sent the request. */
function endedBy(request: FastifyRequest): string[] {
  const { header, cookies, remembered } = presentedSessions(request)
  const held = [...cookies, ...remembered]
  if (held.length > 0 && !mayUseCookies(request, { isChange: true }))
    throw new Forbidden('Requests from pages of other origins cannot end the session')
  return header === null ? held : [header, ...held]
}
