// The caller's own account: profile, e-mail address, password.
import { changeOwnEmail, changeOwnPassword } from '../../auth/own-account.ts'
import { permissionNames } from '../../auth/permission.ts'
import { findUser, UserDetail } from '../../auth/user-record.ts'
import { answer, route } from '../../http/route.ts'
import { body, list, maybe, oneOf, record, text } from '../../schema.ts'
import { allowedTo, Email, Password } from './signed-in.ts'

const Profile = record(
  {
    ...UserDetail.properties,
    effectivePermissions: list(oneOf(permissionNames), {
      description: 'All that this request may do: of role and extras, within those of the API key.',
    }),
  },
  { component: 'Profile' },
)

export const user = [
  route({
    method: 'GET',
    path: '/user',
    permission: 'auth',
    summary: 'Profile of the signed-in user',
    responses: { 200: Profile },
    async handle({ identity }, { sql }) {
      const found = await findUser(sql, identity.account.id)
      return { ...found, effectivePermissions: allowedTo(identity) }
    },
  }),
  route({
    method: 'PATCH',
    path: '/user',
    permission: 'auth',
    // Each change may send a letter.
    bucket: 'login',
    summary: 'Change the own e-mail address',
    description: 'The new address counts as not confirmed. Not with an API key.',
    body: body({ email: maybe(Email) }),
    responses: { 200: UserDetail },
    async handle({ body, identity }, { auth, sql }) {
      if (body.email !== undefined) await changeOwnEmail(auth, identity, body.email)
      return findUser(sql, identity.account.id)
    },
  }),
  route({
    method: 'PUT',
    path: '/user/password',
    permission: 'auth',
    bucket: 'login',
    summary: 'Change the own password',
    description: 'Ends all other sessions of the account. Not with an API key.',
    body: body({ currentPassword: text(4096), newPassword: Password }),
    responses: { 204: null },
    async handle({ body, identity }, { auth }) {
      await changeOwnPassword(auth, identity, body)
      return answer(204)
    },
  }),
]
