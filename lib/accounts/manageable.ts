// Which accounts an account may manage: those without permissions beyond its own.
import {
  effectivePermissions,
  type Permission,
  parsePermissions,
  permissionsOfRole,
  type Role,
} from './permission.ts'
import { isUnrestricted, type Viewer } from './viewer.ts'

/** The permission that the caller lacks to create, change or impersonate an account with these; null if none. */
export function missingToManage(
  { permissions, viewer }: { permissions: ReadonlySet<Permission>; viewer: Viewer },
  { role = 'reader', permissions: extras = [] }: { role?: Role; permissions?: readonly string[] },
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
