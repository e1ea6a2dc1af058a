// Accounts, for those who manage them.
import { changeAccount, createAccount, removeAccount } from '../../auth/account.ts'
import type { Identity } from '../../auth/identify.ts'
import { effective, parsePermissions, permissionsOfRole, type Role } from '../../auth/permission.ts'
import { findUser, listUsers, standingOf, User, UserDetail } from '../../auth/user-record.ts'
import { isUnrestricted } from '../../auth/viewer.ts'
import { Forbidden, Invalid } from '../../errors.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import {
  body,
  change,
  Id,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  Type,
  text,
  uuid,
} from '../../schema.ts'
import { Email, Password, Role as RoleName, SomePermissions, Username } from './signed-in.ts'

const mostOnPage = 100

const rights = {
  role: maybe(RoleName),
  isActive: maybe(Type.Boolean()),
  emailVerified: maybe(Type.Boolean()),
  permissions: maybe(SomePermissions),
  libraryIds: maybe(
    nullable(list(uuid(), { maxItems: 1000, description: 'Null lets the account see all.' })),
  ),
  ageLimit: maybe(nullable(Type.Integer({ minimum: 0, maximum: 100 }))),
  showsUnrated: maybe(Type.Boolean()),
}

export const users = [
  route({
    method: 'GET',
    path: '/users',
    permission: 'UsersRead',
    summary: 'List users',
    description: 'By user name; at most 100 a page.',
    query: record({
      role: maybe(RoleName),
      sharingTag: maybe(
        text(200, { description: 'Name of a tag that the user has a rule about.' }),
      ),
      sharingTagMode: maybe(oneOf(['allow', 'deny'])),
      ...pageQuery,
    }),
    responses: { 200: paged(User) },
    async handle({ query, request, reply }, { sql }) {
      const page = paging({ ...query, pageSize: Math.min(query.pageSize || 50, mostOnPage) })
      const found = await listUsers(sql, query, page)
      return pageOf({ request, reply, query }, { ...found, paging: page })
    },
  }),
  route({
    method: 'POST',
    path: '/users',
    permission: 'UsersWrite',
    summary: 'Create a user',
    description:
      'Nobody gives away more than they may do themselves, beyond what every reader may (403).',
    body: body({ username: Username, email: Email, password: Password, ...rights }),
    responses: { 201: User },
    async handle({ body, identity }, { sql }) {
      mayMakeOf(identity, body)
      const { id } = await createAccount(sql, body)
      return findUser(sql, id)
    },
  }),
  route({
    method: 'GET',
    path: '/users/{id}',
    permission: 'UsersRead',
    summary: 'User details',
    params: Id,
    responses: { 200: UserDetail },
    handle: ({ params }, { sql }) => findUser(sql, params.id),
  }),
  route({
    method: 'PUT',
    path: '/users/{id}',
    also: [{ method: 'PATCH' }],
    permission: 'UsersWrite',
    summary: 'Update a user',
    description:
      'What is left out stays. A new password and deactivation end the sessions of the user. 409 when no ' +
      'administrator would be left; 403 for an account that may do more than the caller.',
    params: Id,
    body: change(
      {
        username: maybe(Username),
        email: maybe(Email),
        password: maybe(Password),
        ...rights,
      },
      UserDetail,
    ),
    responses: { 200: UserDetail },
    async handle({ params: { id }, body, identity }, { auth, sql }) {
      const standing = await standingOf(sql, id)
      mayMakeOf(identity, standing)
      mayMakeOf(identity, {
        role: body.role ?? standing.role,
        permissions: body.permissions ?? standing.permissions,
      })
      const keepSession = id === identity.account.id ? identity.sessionId : null
      await changeAccount(auth, { id, keepSession }, body)
      return findUser(sql, id)
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/{id}',
    permission: 'UsersDelete',
    summary: 'Delete a user',
    description:
      'With all that is their own: progress, keys, preferences. 400 for the own account, 409 for the last administrator.',
    params: Id,
    responses: { 204: null },
    async handle({ params: { id }, identity }, { auth, sql }) {
      if (id === identity.account.id) throw new Invalid('Nobody can delete their own account')
      mayMakeOf(identity, await standingOf(sql, id))
      await removeAccount(auth, id)
      return answer(204)
    },
  }),
]

/** Throws Forbidden unless the caller may make, or make something else of, an account with these rights. */
function mayMakeOf(
  { permissions, viewer }: Identity,
  { role = 'reader', permissions: extras = [] }: { role?: Role; permissions?: readonly string[] },
): void {
  if (permissions.has('SystemAdmin')) return
  // The new account would see what its maker must not.
  if (!isUnrestricted(viewer)) throw new Forbidden('Missing required permission: SystemAdmin')
  const known = parsePermissions(extras.filter(name => name !== ''))
  const lacking = [...effective(role, known, null)].find(
    name => !permissions.has(name) && !permissionsOfRole.reader.includes(name),
  )
  if (lacking) throw new Forbidden(`Missing required permission: ${lacking}`)
}
