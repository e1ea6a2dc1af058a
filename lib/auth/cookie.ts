// The cookie that carries the access token where a client cannot send headers: images and streams.

export const cookieName = 'auth_token'

/** `path` is that below which the server answers: what else is on the host gets no cookie of ours. */
type Place = { secure: boolean; path: string }

/** The `Set-Cookie` value that holds a token for `maxAge` seconds. */
export function sessionCookie(
  token: string,
  { maxAge, secure, path }: Place & { maxAge: number },
): string {
  const parts = [
    `${cookieName}=${token}`,
    `Max-Age=${maxAge}`,
    `Path=${path}`,
    'HttpOnly',
    'SameSite=Lax',
  ]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The `Set-Cookie` value that takes it away. */
export function noCookie(place: Place): string {
  return sessionCookie('', { maxAge: 0, ...place })
}
