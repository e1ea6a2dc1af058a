// Session cookies (Set-Cookie), with the API's prefix as their path.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionDays } from '../../../../accounts/client-session.ts'
import { basePathOf } from '../../../../http/client/address.ts'
import type { Deps } from '../../../../http/deps.ts'

type Exchange = { request: FastifyRequest; reply: FastifyReply }

/** `days`: how long the client keeps the cookie; 0 deletes it. */
export function setSessionCookie(
  { request: { base }, reply }: Exchange,
  { config }: Pick<Deps, 'config'>,
  { name, secret, days = sessionDays }: { name: string; secret: string; days?: number },
): void {
  const parts = [
    `${name}=${secret}`,
    `Max-Age=${days * 86_400}`,
    // Some apps compare it with the path of the URL that was entered.
    `Path=${basePathOf(base) || '/'}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(config.auth.secure_cookie || base.startsWith('https:') ? ['Secure'] : []),
  ]
  // Appended to any that are already set.
  reply.header('set-cookie', parts.join('; '))
}
