// Sessions presented by a request: in X-Auth-Token or in cookies, which count only if the request cannot be forged
// by another site; and the cookies set by a response.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSessionSecret, sessionDays } from '../../../../accounts/client-session.ts'
import { isCrossOrigin } from '../../../../accounts/credential.ts'
import { basePathOf } from '../../../../http/client/address.ts'
import type { Deps } from '../../../../http/deps.ts'

export const sessionCookie = 'KOMGA-SESSION'
export const rememberCookie = 'komga-remember-me'
export const sessionHeader = 'x-auth-token'

type Presented = {
  /** From X-Auth-Token. */
  header: string | null
  /** From cookies, in the order in which they are tried. */
  cookies: readonly string[]
  remembered: readonly string[]
}

/** Another server on the same host may have set cookies with the same name, so all values are returned. */
export function presentedSessions({ headers }: Pick<FastifyRequest, 'headers'>): Presented {
  const token = tokenOf(headers)
  const pairs = cookiesOf(headers)
  const valuesOf = (name: string) =>
    [...new Set(pairs.filter(([key]) => key === name).map(([, value]) => value))]
      .filter(isSessionSecret)
      .slice(0, maxCookies)
  return {
    header: isSessionSecret(token) ? token : null,
    cookies: valuesOf(sessionCookie),
    remembered: valuesOf(rememberCookie),
  }
}

/** Whether a session is presented, even if the value cannot be valid. */
export function presentsSession({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const isOfSession = (name: string) => name === sessionCookie || name === rememberCookie
  return (
    tokenOf(headers) !== '' ||
    cookiesOf(headers).some(([name, value]) => isOfSession(name) && value !== '')
  )
}

const tokenOf = (headers: FastifyRequest['headers']) => String(headers[sessionHeader] ?? '').trim()

const cookiesOf = ({ cookie = '' }: FastifyRequest['headers']) =>
  cookie.split(';').map(pair => {
    const equals = pair.indexOf('=')
    const value = pair.slice(equals + 1).trim()
    return [pair.slice(0, equals).trim(), value.replace(/^"(.*)"$/, '$1')] as const
  })

// Each one costs a lookup.
const maxCookies = 4

/** Whether a session may be returned in X-Auth-Token instead of a cookie. */
export const wantsHeader = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers[sessionHeader] !== undefined

/**
 * Whether cookies of the request count. For reading: unless a browser marks the request as coming from another
 * origin. For changes: only if it is marked as coming from the same origin, or if the client is not a browser,
 * because browsers send `Sec-Fetch-Site`, `Origin` or `Referer` with every change.
 */
export function mayUseCookies(
  { headers, base }: Pick<FastifyRequest, 'headers' | 'base'>,
  { isChange }: { isChange: boolean },
): boolean {
  const site = headers['sec-fetch-site']
  if (!isChange) return site === undefined ? !isOfOtherOrigin(headers, base) : site !== 'cross-site'
  if (site !== undefined) return site === 'same-origin'
  if (headers.origin !== undefined) return !isOfOtherOrigin(headers, base)
  return headers.referer === undefined || originOf(headers.referer) === originOf(base)
}

/** Behind a proxy, the browser's host is that of the public URL. */
const isOfOtherOrigin = (headers: FastifyRequest['headers'], base: string) =>
  isCrossOrigin(headers) && originOf(headers.origin) !== originOf(base)

const originOf = (url: string | undefined) =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : null

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
