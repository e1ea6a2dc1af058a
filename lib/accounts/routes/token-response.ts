// Token responses of sign-in, refresh and registration, and the session cookie.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TString } from 'typebox'
import { component, nullable, oneOf, Type } from '../../base/schema.ts'
import { basePathOf } from '../../http/client/address.ts'
import type { Auth } from '../auth.ts'
import { accessCookie, impersonationCookie } from '../cookie.ts'
import type { Tokens } from '../session.ts'
import { UserInfo } from './account-schema.ts'

type Fields<A, R, T, E> = { accessToken: A; refreshToken: R; tokenType: T; expiresIn: E }

/** Each field in snake_case and camelCase. */
function inBothCases<A, R, T, E>({
  accessToken,
  refreshToken,
  tokenType,
  expiresIn,
}: Fields<A, R, T, E>) {
  return {
    ...{ access_token: accessToken, accessToken, refresh_token: refreshToken, refreshToken },
    ...{ token_type: tokenType, tokenType, expires_in: expiresIn, expiresIn },
  }
}

const tokenFields = inBothCases({
  accessToken: Type.String({ description: 'Access token (JWT).' }),
  refreshToken: Type.String({ description: 'Single-use refresh token for /auth/refresh.' }),
  tokenType: oneOf(['Bearer']),
  expiresIn: Type.Integer({ description: 'Lifetime of the access token in seconds.' }),
})
const message = Type.String()

export const TokenResponse = component('TokenResponse', tokenFields)
export const LoginResponse = component('LoginResponse', { ...tokenFields, user: UserInfo })
export const WelcomeResponse = component('WelcomeResponse', {
  ...tokenFields,
  message,
  user: UserInfo,
})
/** The token fields are null unless the request signed in. */
export const RegisterResponse = component('RegisterResponse', {
  ...Object.fromEntries(
    Object.entries(tokenFields).map(([name, schema]) => [name, nullable(schema)]),
  ),
  message: nullable(message),
  user: UserInfo,
} as {
  [K in keyof typeof tokenFields]: ReturnType<typeof nullable<(typeof tokenFields)[K]>>
} & { message: ReturnType<typeof nullable<TString>>; user: typeof UserInfo })

export const noTokens = inBothCases({
  ...{ accessToken: null, refreshToken: null, tokenType: null, expiresIn: null },
})

type Exchange = { request: FastifyRequest; reply: FastifyReply }

/** The token fields of a response; also sets the session cookie. */
export function tokenResponse(
  { request, reply }: Exchange,
  auth: Auth,
  { accessToken, refreshToken, expiresIn }: Tokens,
) {
  const tokenType = 'Bearer' as const
  const options = cookieOptions(request, auth)
  reply.header('set-cookie', accessCookie(accessToken, { maxAge: expiresIn, ...options }))
  reply.header('cache-control', 'no-store')
  return inBothCases({ accessToken, refreshToken, tokenType, expiresIn })
}

export function clearSessionCookie({ request, reply }: Exchange, auth: Auth): void {
  reply.header('set-cookie', accessCookie('', { maxAge: 0, ...cookieOptions(request, auth) }))
}

type Impersonation = { accountId: string } & Pick<Tokens, 'accessToken' | 'expiresIn'>

/** The cookie of an account shown to an administrator, beside the administrator's own. */
export function setImpersonationCookie(
  { request, reply }: Exchange,
  auth: Auth,
  { accountId, accessToken, expiresIn }: Impersonation,
): void {
  const options = { ...cookieOptions(request, auth), name: impersonationCookie(accountId) }
  reply.header('set-cookie', accessCookie(accessToken, { maxAge: expiresIn, ...options }))
  reply.header('cache-control', 'no-store')
}

const cookieOptions = ({ base, headers }: FastifyRequest, { settings }: Auth) => ({
  // Despite an HTTPS public URL the server may be opened over HTTP on the local network, where browsers refuse to
  // store a Secure cookie.
  secure:
    settings.secure_cookie || (base.startsWith('https:') && !headers.origin?.startsWith('http:')),
  path: basePathOf(base) || '/',
})
