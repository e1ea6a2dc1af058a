// The caller's account: profile, e-mail address, password.

import { body, component, maybe, text } from '../../base/schema.ts'
import { route } from '../../http/route.ts'
import { changeOwnEmail, changeOwnPassword } from '../own-account.ts'
import { findUser, UserDetail } from '../user-record.ts'
import {
  EffectivePermissions,
  Email,
  effectivePermissionNames,
  Password,
} from './account-schema.ts'

const Profile = component('Profile', {
  ...UserDetail.properties,
  effectivePermissions: EffectivePermissions,
})

export const user = [
  route('GET /user', {
    operationId: 'getProfile',
    permission: 'auth',
    summary: 'Profile of the current user',
    responses: { 200: Profile },
    async handle({ identity }, { sql }) {
      const user = await findUser(sql, identity.account.id)
      return { ...user, effectivePermissions: effectivePermissionNames(identity) }
    },
  }),
  route('PATCH /user', {
    operationId: 'updateProfile',
    permission: 'auth',
    // Each change may send an e-mail.
    bucket: 'login',
    guesses: 'address',
    summary: 'Change own e-mail address',
    description:
      'If addresses must be verified, the new one takes effect when it is verified; an address that already has an account gets the same response, and its owner is sent an e-mail. Otherwise it changes at once, unverified; 409 for an address that has an account. The limit is five requests, then one every twelve minutes. Not available with an API key.',
    body: body('ProfileUpdate', { email: maybe(Email) }),
    responses: { 200: UserDetail },
    async handle({ body, identity }, { auth, sql }) {
      if (body.email !== undefined) await changeOwnEmail(auth, identity, body.email)
      return findUser(sql, identity.account.id)
    },
  }),
  route('PUT /user/password', {
    operationId: 'changePassword',
    permission: 'auth',
    bucket: 'login',
    guesses: 'caller',
    summary: 'Change own password',
    description: 'Ends all other sessions of the account. Not available with an API key.',
    body: body('PasswordChange', { currentPassword: text(4096), newPassword: Password }),
    responses: { 204: null },
    handle: ({ body, identity }, { auth }) => changeOwnPassword(auth, identity, body),
  }),
]
