// Which accounts an account may manage: those without permissions beyond its own.

import { Forbidden } from '../base/errors.ts'
import {
  effectivePermissions,
  type Permission,
  parsePermissions,
  permissionsOfRole,
  type Role,
} from './permission.ts'
import { isUnrestricted, type Viewer } from './viewer.ts'

type Caller = { permissions: ReadonlySet<Permission>; viewer: Viewer }
type Manageable = { role?: Role; permissions?: readonly string[] }

/** The permission that the caller lacks to create, change or impersonate an account with these; null if none. */
export function missingToManage(
  { permissions, viewer }: Caller,
  { role = 'reader', permissions: extras = [] }: Manageable,
): string | null {
  if (permissions.has('SystemAdmin')) return null
  // A new account would see what its creator cannot.
  if (!isUnrestricted(viewer)) return 'SystemAdmin'
  const granted = parsePermissions(extras.filter(name => name !== ''))
  const needed = [...effectivePermissions(role, granted, null)]
  return (
    needed.find(name => !permissions.has(name) && !permissionsOfRole.reader.includes(name)) ?? null
  )
}

/** Throws Forbidden unless the caller may create or change an account with these permissions. */
export function requireManageable(caller: Caller, account: Manageable): void {
  const missing = missingToManage(caller, account)
  if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
}
