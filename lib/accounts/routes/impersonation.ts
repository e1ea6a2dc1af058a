// Impersonation tokens: an administrator sees the application as another account does, but cannot change anything.
import { Forbidden, NotFound } from '../../base/errors.ts'
import { component, oneOf, Type } from '../../base/schema.ts'
import { UserId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import type { Auth } from '../auth.ts'
import { findImpersonatedIdentity, type Identity } from '../identity.ts'
import { requireManageable } from '../manageable.ts'
import { impersonationPermission } from '../permission.ts'
import { findRoleAndPermissions } from '../user-record.ts'
import {
  EffectivePermissions,
  effectivePermissionNames,
  UserInfo,
  userInfo,
} from './account-schema.ts'
import { setImpersonationCookie } from './token-response.ts'

const ImpersonationToken = component('ImpersonationToken', {
  accessToken: Type.String({ description: 'Access token; there is no refresh token.' }),
  tokenType: oneOf(['Bearer']),
  expiresIn: Type.Integer({ description: 'Lifetime of the token in seconds.' }),
  user: UserInfo,
  effectivePermissions: EffectivePermissions,
})

export const impersonation = [
  route('POST /users/{id}/impersonation-tokens', {
    operationId: 'createImpersonationToken',
    permission: impersonationPermission,
    summary: 'Issue a token to see the application as a user',
    description:
      'For 15 minutes it shows what the user sees, with only the read permissions of the user; every change is 403, and nothing is recorded as read. It ends with the session of the caller, and when either account is disabled. Requires the access token of a sign-in; 403 for an account with more permissions than the caller. Also sets a separate cookie, which images and event streams use with `?as=ID`; the cookie of the caller is unchanged.',
    params: UserId,
    responses: { 201: ImpersonationToken },
    async handle({ params: { id }, identity, request, reply }, { auth, sql }) {
      requireManageable(identity, await findRoleAndPermissions(sql, id))
      const issued = await issueImpersonationToken(auth, identity, id)
      const { accessToken, expiresIn } = issued
      setImpersonationCookie({ request, reply }, auth, { accountId: id, accessToken, expiresIn })
      return respond(201, {
        accessToken,
        tokenType: 'Bearer' as const,
        expiresIn,
        user: userInfo(issued.identity.account),
        effectivePermissions: effectivePermissionNames(issued.identity),
      })
    },
  }),
]

const minutes = 15

/** `expiresIn` in seconds. The identity has only the account's read permissions. */
export type ImpersonationToken = { accessToken: string; expiresIn: number; identity: Identity }

/**
 * A token for an account that the caller may manage. It ends with the caller's session, and when either
 * account is disabled. Throws Forbidden without a session, NotFound for an account that is not active.
 */
export async function issueImpersonationToken(
  { sql, tokens, log }: Pick<Auth, 'sql' | 'tokens' | 'log'>,
  caller: Identity,
  accountId: string,
): Promise<ImpersonationToken> {
  const { sessionId, credentialKind } = caller
  if (sessionId === null) throw new Forbidden('Requires the access token of a sign-in')
  const actorId = caller.account.id
  const source = { accountId, actorId, sessionId, credentialKind }
  const found = await findImpersonatedIdentity(sql, source)
  if (found === null) throw new NotFound('The account is not active')
  const { identity } = found
  const { token, expiresIn } = await tokens.sign(identity.account, sessionId, { actorId, minutes })
  log.info({ accountId, actorId, sessionId, expiresIn }, 'impersonation token issued')
  return { accessToken: token, expiresIn, identity }
}
