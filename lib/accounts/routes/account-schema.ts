// Schemas of accounts: roles, permissions, credentials, and the user as in sign-in responses.

import { component, list, oneOf, Type, text, uuid } from '../../base/schema.ts'
import { emailPattern, maxUsernameLength, usernamePattern } from '../account.ts'
import type { Account, Identity } from '../identify.ts'
import { permissionNames, roles } from '../permission.ts'

export const Role = oneOf(roles, { component: 'Role', description: 'Role of a user.' })
export const Permission = oneOf(permissionNames, { component: 'Permission' })

/** Permissions in requests; other spellings are accepted too. */
const PermissionName = text(60, { documentedAs: Permission })
export const PermissionNames = list(PermissionName, {
  maxItems: 100,
  description: 'Permission names; `books:read` and `books-read` are accepted for `BooksRead`.',
})
export const EffectivePermissions = list(Permission, {
  description:
    "All permissions of this request: the role's and the extra ones, limited by the API key.",
})
// Checked in lib/accounts/account.ts, with clearer messages than a pattern would give.
export const Username = text(maxUsernameLength, {
  documentedAs: {
    type: 'string',
    maxLength: maxUsernameLength,
    pattern: usernamePattern,
    description: 'At most 100 characters, without colons.',
  },
})
export const Email = text(254, {
  documentedAs: {
    type: 'string',
    maxLength: 254,
    pattern: emailPattern,
    description: 'E-mail address.',
  },
})
export const Password = text(1024, { minLength: 8, description: 'At least 8 characters.' })

export const UserInfo = component('UserInfo', {
  id: uuid(),
  username: Type.String(),
  email: Type.String(),
  role: Role,
  emailVerified: Type.Boolean(),
  permissions: list(Type.String(), { description: "Permissions beyond the role's." }),
})

export function userInfo({ id, username, email, role, emailVerified, permissions }: Account) {
  return { id, username, email, role, emailVerified, permissions: [...permissions] }
}

/** Effective permissions, in the order of the specification. */
export function effectivePermissionNames({ permissions }: Identity) {
  return permissionNames.filter(name => permissions.has(name))
}
