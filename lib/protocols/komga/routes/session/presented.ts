// Sessions that a request presents: in X-Auth-Token or in cookies, which count only where the request can be no
// forgery of another site.
import type { FastifyRequest } from 'fastify'
import { isSessionSecret } from '../../../../accounts/client-session.ts'
import { isCrossOrigin } from '../../../../accounts/credential.ts'

export const sessionCookie = 'KOMGA-SESSION'
export const rememberCookie = 'komga-remember-me'
export const sessionHeader = 'x-auth-token'

type Presented = {
  /** Of X-Auth-Token. */
  header: string | null
  /** Of the cookies, in the order in which they are tried. */
  cookies: readonly string[]
  remembered: readonly string[]
}

/** Another server of the same host may have set cookies of the same name: all values are returned. */
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

/** Whether there is a value in the place of a session, even if it cannot be one. */
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

// Each is looked up.
const maxCookies = 4

/** Whether a session may be returned in X-Auth-Token, in place of a cookie. */
export const wantsHeader = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers[sessionHeader] !== undefined

/**
 * Whether cookies of the request count. To read, unless a browser marks the request as that of a page of another
 * origin; to change something, only if it marks it as that of a page of the same origin, or if the client is no
 * browser: browsers send `Sec-Fetch-Site`, `Origin` or `Referer` with every change.
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

/** Behind a proxy the browser's host is that of the public address. */
const isOfOtherOrigin = (headers: FastifyRequest['headers'], base: string) =>
  isCrossOrigin(headers) && originOf(headers.origin) !== originOf(base)

const originOf = (url: string | undefined) =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : null
