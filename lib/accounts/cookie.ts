// Access token cookie (Set-Cookie), for image and stream requests whose clients cannot set headers.

export const accessCookieName = 'auth_token'

/**
 * Name of the cookie that a request refers to. `?as=ID` selects the cookie of an account shown to an
 * administrator, so that other browser tabs keep the administrator's own account.
 */
export function requestedCookie(query: unknown): string {
  const { as } = (query ?? {}) as { as?: unknown }
  return as === undefined ? accessCookieName : impersonationCookie(String(as))
}

export const impersonationCookie = (accountId: string): string =>
  `impersonation_${accountId.toLowerCase().replace(/[^\da-f]/g, '')}`

/** `path` is the path prefix of the server, so that other applications on the host do not get the cookie. */
type CookieScope = { secure: boolean; path: string }

/** The `Set-Cookie` value that stores a token for `maxAge` seconds. */
export function accessCookie(
  token: string,
  {
    maxAge,
    secure,
    path,
    name = accessCookieName,
  }: CookieScope & { maxAge: number; name?: string },
): string {
  const parts = [
    `${name}=${token}`,
    `Max-Age=${maxAge}`,
    `Path=${path}`,
    'HttpOnly',
    'SameSite=Lax',
  ]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The `Set-Cookie` value that deletes the cookie. */
export function expiredAccessCookie(scope: CookieScope): string {
  return accessCookie('', { maxAge: 0, ...scope })
}
