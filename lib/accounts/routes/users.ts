// User accounts: the caller's own profile, e-mail address and password, and the management of all.
import { Invalid } from '../../base/errors.ts'
import {
  body,
  component,
  list,
  maybe,
  oneOf,
  optional,
  patchBody,
  record,
  Type,
  text,
  uuid,
} from '../../base/schema.ts'
import { paged, pageNumber, pageResponse, pageSize, paging } from '../../http/pagination.ts'
import { UserId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { changeAccount, createAccount, deleteAccount } from '../account.ts'
import { requireManageable } from '../manageable.ts'
import {
  changeOwnEmail,
  changeOwnPassword,
  forbidOwnAccountToKey,
  requireCurrentPassword,
} from '../own-account.ts'
import { accessModes } from '../sharing-rule.ts'
import {
  findRoleAndPermissions,
  findUser,
  listUsers,
  shownTo,
  User,
  UserDetail,
} from '../user-record.ts'
import {
  EffectivePermissions,
  Email,
  effectivePermissionNames,
  Password,
  PermissionNames,
  Role,
  Username,
} from './account-schema.ts'

const maxUsersPerPage = 100

const accessFields = {
  role: maybe(Role),
  isActive: maybe(Type.Boolean()),
  emailVerified: maybe(Type.Boolean()),
  permissions: maybe(PermissionNames),
  libraryIds: optional(
    list(uuid(), { maxItems: 1000, description: 'Visible libraries; null for all.' }),
  ),
  ageLimit: optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Highest visible age rating in years; null for no limit.',
    }),
  ),
  showsUnrated: maybe(
    Type.Boolean({ description: 'Whether series without an age rating are visible.' }),
  ),
}

const managed = [
  route('GET /users', {
    operationId: 'listUsers',
    permission: 'UsersRead',
    summary: 'List users',
    description: 'Sorted by user name.',
    query: record({
      role: maybe(Role),
      sharingTag: maybe(
        text(200, { description: 'Only users with a sharing rule for the tag of this name.' }),
      ),
      sharingTagMode: maybe(
        oneOf(accessModes, { description: 'Only users whose rule has this mode.' }),
      ),
      page: pageNumber(),
      pageSize: pageSize(50, maxUsersPerPage),
    }),
    responses: { 200: paged(User) },
    async handle(input, { sql }) {
      const page = paging(input.query, { maximum: maxUsersPerPage })
      const { data, total } = await listUsers(sql, input.query, page)
      const shown = data.map(user => shownTo(input.identity, user))
      return pageResponse(input, { data: shown, total, paging: page })
    },
  }),
  route('POST /users', {
    operationId: 'createUser',
    permission: 'UsersWrite',
    summary: 'Create a user',
    description:
      'Beyond the permissions of a reader, callers can grant only permissions that they have (403 otherwise).',
    body: body('UserCreate', {
      username: Username,
      email: Email,
      password: Password,
      ...accessFields,
    }),
    responses: { 201: User },
    async handle({ body, identity }, { sql }) {
      requireManageable(identity, body)
      const { id } = await createAccount(sql, body)
      return findUser(sql, id)
    },
  }),
  route('GET /users/{id}', {
    operationId: 'getUser',
    permission: 'UsersRead',
    summary: 'Get a user',
    params: UserId,
    responses: { 200: UserDetail },
    handle: async ({ params, identity }, { sql }) =>
      shownTo(identity, await findUser(sql, params.id)),
  }),
  route('PUT /users/{id}', {
    operationId: 'updateUser',
    aliases: [{ method: 'PATCH', operationId: 'patchUser' }],
    permission: 'UsersWrite',
    guesses: 'own',
    summary: 'Update a user',
    description:
      'Absent fields are unchanged. Changing your own password requires the current one. A new password or deactivation ends the sessions of the user. 409 if no administrator would be left; 403 for an account with more permissions than the caller, and for an API key that changes its own account.',
    params: UserId,
    body: patchBody(
      'UserUpdate',
      {
        username: maybe(Username),
        email: maybe(Email),
        password: maybe(Password),
        currentPassword: maybe(
          text(4096, { description: 'Required to change your own password.' }),
        ),
        ...accessFields,
      },
      UserDetail,
    ),
    responses: { 200: UserDetail },
    async handle({ params: { id }, body, identity }, { auth, sql }) {
      const { currentPassword, ...changes } = body
      const isOwn = id === identity.account.id
      forbidOwnAccountToKey(identity, id)
      const current = await findRoleAndPermissions(sql, id)
      requireManageable(identity, current)
      requireManageable(identity, {
        role: body.role ?? current.role,
        permissions: body.permissions ?? current.permissions,
      })
      if (isOwn && changes.password !== undefined)
        await requireCurrentPassword(auth, id, currentPassword)
      const exceptSessionId = isOwn ? identity.sessionId : null
      await changeAccount(auth, { id, exceptSessionId }, changes)
      return findUser(sql, id)
    },
  }),
  route('DELETE /users/{id}', {
    operationId: 'deleteUser',
    permission: 'UsersDelete',
    summary: 'Delete a user',
    description:
      'Also deletes reading progress, API keys and preferences. 400 for your own account, 409 for the last administrator.',
    params: UserId,
    responses: { 204: null },
    async handle({ params: { id }, identity }, { auth, sql }) {
      if (id === identity.account.id) throw new Invalid('You cannot delete your own account')
      requireManageable(identity, await findRoleAndPermissions(sql, id))
      await deleteAccount(auth, id)
    },
  }),
]

const Profile = component('Profile', {
  ...UserDetail.properties,
  effectivePermissions: EffectivePermissions,
})

const own = [
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

export const users = [...own, ...managed]
