// The cookie that carries the access token where a client cannot send headers: images and streams.

export const cookieName = 'auth_token'

/** The `Set-Cookie` value that holds a token for `maxAge` seconds. */
export function sessionCookie(
  token: string,
  { maxAge, secure }: { maxAge: number; secure: boolean },
): string {
  const parts = [
    `${cookieName}=${token}`,
    `Max-Age=${maxAge}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
  ]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The `Set-Cookie` value that takes it away. */
export function noCookie({ secure }: { secure: boolean }): string {
  return sessionCookie('', { maxAge: 0, secure })
}
