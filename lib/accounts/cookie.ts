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
type CookieOptions = { maxAge: number; secure: boolean; path: string; name?: string }

/** The `Set-Cookie` value that stores a token for `maxAge` seconds; 0 deletes it. */
export function accessCookie(
  token: string,
  { maxAge, secure, path, name = accessCookieName }: CookieOptions,
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
