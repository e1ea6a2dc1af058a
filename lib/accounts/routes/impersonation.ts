// Impersonation tokens: an administrator sees the application as another account does, but cannot change anything.

import { component, oneOf, Type } from '../../base/schema.ts'
import { UserId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { issueImpersonationToken } from '../impersonation.ts'
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
