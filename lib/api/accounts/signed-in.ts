// What answers say of the signed-in user, and the answer that signs in: tokens, cookie, user.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Auth } from '../../auth/auth.ts'
import { noCookie, sessionCookie } from '../../auth/cookie.ts'
import type { Account, Identity } from '../../auth/identify.ts'
import { permissionNames, roles } from '../../auth/permission.ts'
import type { Tokens } from '../../auth/session.ts'
import { basePathOf } from '../../http/address.ts'
import { list, nullable, oneOf, record, Type, text, uuid } from '../../schema.ts'

export const Role = oneOf(roles)
/** In answers always by the names of the specification. */
export const Permissions = list(oneOf(permissionNames))
/** In requests: other spellings are understood as well. */
export const SomePermissions = list(text(60), {
  maxItems: 100,
  description: `Names of permissions: ${permissionNames.join(', ')}. Also as books:read or books-read.`,
})
export const Username = text(100, { description: 'At most 100 characters, no colon.' })
export const Email = text(254)
export const Password = text(1024, { description: 'At least 8 characters, at most 1,024 bytes.' })

export const UserInfo = record(
  {
    id: uuid(),
    username: Type.String(),
    email: Type.String(),
    role: Role,
    emailVerified: Type.Boolean(),
    permissions: list(Type.String(), { description: 'Beyond those of the role.' }),
  },
  { component: 'UserInfo' },
)

const expires = Type.Integer({ description: 'Life of the access token in seconds.' })
const tokenFields = {
  access_token: Type.String(),
  accessToken: Type.String(),
  refresh_token: Type.String(),
  refreshToken: Type.String({ description: 'Good for one use at /auth/refresh.' }),
  token_type: oneOf(['Bearer']),
  tokenType: oneOf(['Bearer']),
  expires_in: expires,
  expiresIn: expires,
}

/** Tokens, each member in both spellings. */
export const TokenAnswer = record(tokenFields, { component: 'Tokens' })
export const LoginAnswer = record({ ...tokenFields, user: UserInfo }, { component: 'Login' })
export const WelcomeAnswer = record(
  { ...tokenFields, message: Type.String(), user: UserInfo },
  { component: 'Welcome' },
)
/** Nulls while the address is not confirmed. */
export const RegisterAnswer = record(
  {
    ...Object.fromEntries(
      Object.entries(tokenFields).map(([name, schema]) => [name, nullable(schema)]),
    ),
    message: nullable(Type.String()),
    user: UserInfo,
  } as {
    [K in keyof typeof tokenFields]: ReturnType<typeof nullable<(typeof tokenFields)[K]>>
  } & { message: ReturnType<typeof nullable<Type.TString>>; user: typeof UserInfo },
  { component: 'Registration' },
)

/** The tokens on the wire; the access token also goes into the cookie. */
export function giveTokens(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  auth: Auth,
  { accessToken, refreshToken, expiresIn }: Tokens,
) {
  const place = cookiePlace(request, auth)
  reply.header('set-cookie', sessionCookie(accessToken, { maxAge: expiresIn, ...place }))
  reply.header('cache-control', 'no-store')
  return {
    access_token: accessToken,
    accessToken,
    refresh_token: refreshToken,
    refreshToken,
    token_type: 'Bearer' as const,
    tokenType: 'Bearer' as const,
    expires_in: expiresIn,
    expiresIn,
  }
}

/** Takes the cookie away. */
export function takeCookie(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  auth: Auth,
): void {
  reply.header('set-cookie', noCookie(cookiePlace(request, auth)))
}

/** The account as answers show it. */
export function userInfo({ id, username, email, role, emailVerified, permissions }: Account) {
  return { id, username, email, role, emailVerified, permissions: [...permissions] }
}

/** What a request may do, in the order of the specification. */
export function allowedTo({ permissions }: Identity) {
  return permissionNames.filter(name => permissions.has(name))
}

const cookiePlace = ({ base }: FastifyRequest, { settings }: Auth) => ({
  secure: settings.secure_cookie || base.startsWith('https:'),
  path: basePathOf(base) || '/',
})
