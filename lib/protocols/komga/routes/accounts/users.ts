// Users of the Komga-compatible API: the caller's own account and, for administrators, all others.
import { changeAccount, createAccount, deleteAccount } from '../../../../accounts/account.ts'
import type { Identity } from '../../../../accounts/identify.ts'
import { requireManageable } from '../../../../accounts/manageable.ts'
import { forbidOwnAccountToKey, replaceOwnPassword } from '../../../../accounts/own-account.ts'
import {
  effectivePermissions,
  type Permission,
  type Role,
} from '../../../../accounts/permission.ts'
import { replaceSharingRules, sharingRulesByAccount } from '../../../../accounts/sharing-rule.ts'
import {
  findRoleAndPermissions,
  findUser,
  listUsers,
  shownTo,
  type User,
} from '../../../../accounts/user-record.ts'
import { Forbidden, Invalid } from '../../../../base/errors.ts'
import {
  component,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  optional,
  record,
  type Static,
  Type,
  text,
  uuid,
} from '../../../../base/schema.ts'
import type { Deps } from '../../../../http/deps.ts'
import { UserId } from '../../../../http/params.ts'
import { respond, route } from '../../../../http/route.ts'
import { issueRemembered } from '../session/authenticate.ts'

const restrictions = ['ALLOW_ONLY', 'EXCLUDE'] as const

export const UserDto = component('UserDto', {
  id: Type.String(),
  email: Type.String(),
  roles: list(Type.String()),
  sharedAllLibraries: Type.Boolean(),
  sharedLibrariesIds: list(Type.String()),
  labelsAllow: list(Type.String()),
  labelsExclude: list(Type.String()),
  ageRestriction: nullable(
    component('AgeRestrictionDto', { age: Type.Integer(), restriction: oneOf(restrictions) }),
  ),
})

/** Roles, each with the permission it stands for. */
const rolePermissions: readonly (readonly [string, Permission])[] = [
  ['ADMIN', 'SystemAdmin'],
  ['FILE_DOWNLOAD', 'BooksRead'],
  ['PAGE_STREAMING', 'PagesRead'],
  ['KOREADER_SYNC', 'ProgressWrite'],
]

const rolesOf = (permissions: ReadonlySet<Permission>): string[] => [
  'USER',
  ...rolePermissions.filter(([, permission]) => permissions.has(permission)).map(([name]) => name),
]

/** Clients require something that looks like an address. */
const emailOf = ({ email, username }: { email: string; username: string }): string =>
  email || `${username.replace(/[^\w.-]+/g, '-')}@local.invalid`

/** `ALLOW_ONLY` hides what has no age rating, `EXCLUDE` hides what is rated for that age or older. */
function ageRestrictionOf({ ageLimit, showsUnrated }: Pick<User, 'ageLimit' | 'showsUnrated'>) {
  if (ageLimit === null) return null
  return showsUnrated
    ? { age: ageLimit + 1, restriction: 'EXCLUDE' as const }
    : { age: ageLimit, restriction: 'ALLOW_ONLY' as const }
}

/** `permissions`: the caller's, for their own account; an API key may have fewer. */
export function userDto(
  user: User & { sharingTags: readonly { sharingTagName: string; accessMode: string }[] },
  permissions: ReadonlySet<Permission> = effectivePermissions(user.role, user.permissions, null),
): Static<typeof UserDto> {
  const { id, libraryIds, sharingTags } = user
  const tags = (mode: string) =>
    sharingTags.filter(rule => rule.accessMode === mode).map(rule => rule.sharingTagName)
  return {
    id,
    email: emailOf(user),
    roles: rolesOf(permissions),
    sharedAllLibraries: libraryIds === null,
    sharedLibrariesIds: libraryIds ?? [],
    labelsAllow: tags('allow'),
    labelsExclude: tags('deny'),
    ageRestriction: ageRestrictionOf(user),
  }
}

const Labels = list(name(200), { maxItems: 100 })
const changes = {
  roles: optional(list(text(50), { maxItems: 20 })),
  labelsAllow: optional(Labels),
  labelsExclude: optional(Labels),
  sharedLibraries: optional(
    record({ all: Type.Boolean(), libraryIds: list(uuid(), { maxItems: 1000 }) }),
  ),
  ageRestriction: optional(
    record({
      age: Type.Integer({ minimum: 0, maximum: 100 }),
      restriction: oneOf(['ALLOW_ONLY', 'EXCLUDE', 'NONE']),
    }),
  ),
}
const UserChanges = record(changes)
type UserChanges = Static<typeof UserChanges>
const Password = record({ password: text(4096) })
const maxUsers = 10_000

export const users = [
  route('GET /api/v2/users/me', {
    operationId: 'getCurrentUser',
    atRoot: true,
    aliases: [{ path: '/api/v1/users/me' }],
    permission: 'auth',
    summary: 'Get the current user',
    query: record({ 'remember-me': maybe(Type.Boolean()) }),
    responses: { 200: UserDto },
    async handle({ identity, query, request, reply }, deps) {
      if (query['remember-me']) await issueRemembered(identity, { request, reply }, deps)
      return userDto(await findUser(deps.sql, identity.account.id), identity.permissions)
    },
  }),
  route('PATCH /api/v2/users/me/password', {
    operationId: 'updatePasswordForCurrentUser',
    atRoot: true,
    permission: 'auth',
    bucket: 'login',
    summary: 'Change own password',
    body: Password,
    responses: { 204: null },
    handle: ({ identity, body: { password } }, { auth }) =>
      replaceOwnPassword(auth, identity, password),
  }),
  route('GET /api/v2/users', {
    operationId: 'getUsers',
    atRoot: true,
    permission: 'UsersRead',
    summary: 'List users',
    responses: { 200: list(UserDto) },
    async handle({ identity }, { sql }) {
      const { data } = await listUsers(sql, {}, { offset: 0, pageSize: maxUsers })
      const ids = data.map(({ id }) => id)
      const rules = await sharingRulesByAccount(sql, ids)
      return data.map(user =>
        userDto({ ...shownTo(identity, user), sharingTags: rules.get(user.id) ?? [] }),
      )
    },
  }),
  route('POST /api/v2/users', {
    operationId: 'addUser',
    atRoot: true,
    permission: 'UsersWrite',
    summary: 'Create a user',
    body: record({ email: text(254), password: text(4096), ...changes }),
    responses: { 201: UserDto },
    async handle({ body: { email, password, ...access }, identity }, deps) {
      const requested = accountChanges(access, 'reader')
      requireManageable(identity, requested)
      requireLabelAccess(identity, access)
      const { id } = await createAccount(deps.sql, {
        ...requested,
        ...{ username: email, email, password },
      })
      await setLabels(deps, id, access)
      return respond(201, userDto(await findUser(deps.sql, id)))
    },
  }),
  route('PATCH /api/v2/users/{id}', {
    operationId: 'updateUserById',
    atRoot: true,
    permission: 'UsersWrite',
    summary: 'Change the permissions and restrictions of a user',
    params: UserId,
    body: UserChanges,
    bodyOptional: true,
    responses: { 204: null },
    async handle({ params: { id }, body, identity }, deps) {
      forbidOwnAccountToKey(identity, id)
      const current = await findRoleAndPermissions(deps.sql, id)
      requireManageable(identity, current)
      requireLabelAccess(identity, body)
      const requested = accountChanges(body, current.role)
      requireManageable(identity, { ...current, ...requested })
      const exceptSessionId = id === identity.account.id ? identity.sessionId : null
      await changeAccount(deps.auth, { id, exceptSessionId }, requested)
      await setLabels(deps, id, body)
    },
  }),
  route('PATCH /api/v2/users/{id}/password', {
    operationId: 'updatePasswordByUserId',
    atRoot: true,
    permission: 'UsersWrite',
    summary: 'Change the password of a user',
    params: UserId,
    body: Password,
    responses: { 204: null },
    async handle({ params: { id }, body, identity }, { auth, sql }) {
      requireManageable(identity, await findRoleAndPermissions(sql, id))
      if (id === identity.account.id) await replaceOwnPassword(auth, identity, body.password)
      else await changeAccount(auth, { id }, body)
    },
  }),
  route('DELETE /api/v2/users/{id}', {
    operationId: 'deleteUserById',
    atRoot: true,
    permission: 'UsersDelete',
    summary: 'Delete a user',
    params: UserId,
    responses: { 204: null },
    async handle({ params: { id }, identity }, { auth, sql }) {
      if (id === identity.account.id) throw new Invalid('You cannot delete your own account')
      requireManageable(identity, await findRoleAndPermissions(sql, id))
      await deleteAccount(auth, id)
    },
  }),
]

/** Only the role `ADMIN` has a counterpart: readers have all others. */
function accountChanges({ roles, sharedLibraries, ageRestriction }: UserChanges, current: Role) {
  const isAdmin = roles?.includes('ADMIN')
  const role: Role = isAdmin
    ? 'admin'
    : isAdmin === false && current === 'admin'
      ? 'reader'
      : current
  return {
    role,
    ...(sharedLibraries && { libraryIds: sharedLibraries.all ? null : sharedLibraries.libraryIds }),
    ...(ageRestriction !== undefined && ageLimitOf(ageRestriction)),
  }
}

function ageLimitOf(restriction: UserChanges['ageRestriction']) {
  if (!restriction || restriction.restriction === 'NONE') return { ageLimit: null }
  const { age } = restriction
  return restriction.restriction === 'ALLOW_ONLY'
    ? { ageLimit: age, showsUnrated: false }
    : { ageLimit: Math.max(0, age - 1), showsUnrated: true }
}

/** Only administrators may use sharing tags. Throws Forbidden. */
function requireLabelAccess(
  { permissions }: Identity,
  { labelsAllow, labelsExclude }: UserChanges,
) {
  const isChanged = [labelsAllow, labelsExclude].some(labels => labels && labels.length > 0)
  if (isChanged && !permissions.has('SystemAdmin'))
    throw new Forbidden('Missing required permission: SystemAdmin')
}

async function setLabels(
  { sql, identities }: Pick<Deps, 'sql' | 'identities'>,
  id: string,
  { labelsAllow, labelsExclude }: UserChanges,
): Promise<void> {
  await sql.begin(async tx => {
    if (labelsAllow) await replaceSharingRules(tx, id, { mode: 'allow', names: labelsAllow })
    if (labelsExclude) await replaceSharingRules(tx, id, { mode: 'deny', names: labelsExclude })
  })
  identities.invalidate(id)
}
