// Users of the Komga-compatible API: accounts, with roles that correspond to their permissions.
import { effectivePermissions, type Permission } from '../../../../accounts/permission.ts'
import type { User } from '../../../../accounts/user-record.ts'
import { component, list, nullable, oneOf, type Static, Type } from '../../../../base/schema.ts'

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
function ageRestrictionOf({
  ageLimit,
  showsUnrated,
}: {
  ageLimit: number | null
  showsUnrated: boolean
}) {
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
