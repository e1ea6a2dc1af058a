// The caller's account: profile, e-mail address, password.

import { body, maybe, record, text } from '../../base/schema.ts'
import { respond, route } from '../../http/route.ts'
import { changeOwnEmail, changeOwnPassword } from '../own-account.ts'
import { findUser, UserDetail } from '../user-record.ts'
import {
  EffectivePermissions,
  Email,
  effectivePermissionNames,
  Password,
} from './account-schema.ts'

const Profile = record(
  { ...UserDetail.properties, effectivePermissions: EffectivePermissions },
  { component: 'Profile' },
)

export const user = [
  route({
    operationId: 'getProfile',
    method: 'GET',
    path: '/user',
    permission: 'auth',
    summary: 'Profile of the current user',
    responses: { 200: Profile },
    async handle({ identity }, { sql }) {
      const user = await findUser(sql, identity.account.id)
      return { ...user, effectivePermissions: effectivePermissionNames(identity) }
    },
  }),
  route({
    operationId: 'updateProfile',
    method: 'PATCH',
    path: '/user',
    permission: 'auth',
    // Each change may send an e-mail.
    bucket: 'login',
    guesses: 'address',
    summary: 'Change own e-mail address',
    description:
      'If addresses must be verified, the new one takes effect when it is verified; an address that already has an account gets the same response, and its owner is sent an e-mail. Otherwise it changes at once, unverified; 409 for an address that has an account. The limit is five requests, then one every twelve minutes. Not available with an API key.',
    body: body({ email: maybe(Email) }, { component: 'ProfileUpdate' }),
    responses: { 200: UserDetail },
    async handle({ body, identity }, { auth, sql }) {
      if (body.email !== undefined) await changeOwnEmail(auth, identity, body.email)
      return findUser(sql, identity.account.id)
    },
  }),
  route({
    operationId: 'changePassword',
    method: 'PUT',
    path: '/user/password',
    permission: 'auth',
    bucket: 'login',
    guesses: 'caller',
    summary: 'Change own password',
    description: 'Ends all other sessions of the account. Not available with an API key.',
    body: body(
      { currentPassword: text(4096), newPassword: Password },
      { component: 'PasswordChange' },
    ),
    responses: { 204: null },
    async handle({ body, identity }, { auth }) {
      await changeOwnPassword(auth, identity, body)
      return respond(204)
    },
  }),
]
