// Access token cookie (Set-Cookie), for image and stream requests whose clients cannot set headers.

export const accessCookieName = 'auth_token'

/** `path` is the path prefix of the server, so that other applications on the host do not get the cookie. */
type CookieScope = { secure: boolean; path: string }

/** The `Set-Cookie` value that stores a token for `maxAge` seconds. */
export function accessCookie(
  token: string,
  { maxAge, secure, path }: CookieScope & { maxAge: number },
): string {
  const parts = [
    `${accessCookieName}=${token}`,
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
