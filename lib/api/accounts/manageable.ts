// Which accounts, with their API keys, a caller may manage: those without permissions beyond the own ones.
import type { Identity } from '../../auth/identify.ts'
import {
  effectivePermissions,
  parsePermissions,
  permissionsOfRole,
  type Role,
} from '../../auth/permission.ts'
import { isUnrestricted } from '../../auth/viewer.ts'
import { Forbidden } from '../../errors.ts'

/** Throws Forbidden unless the caller may create or change an account with these permissions. */
export function requireManageable(
  { permissions, viewer }: Identity,
  { role = 'reader', permissions: extras = [] }: { role?: Role; permissions?: readonly string[] },
): void {
  if (permissions.has('SystemAdmin')) return
  // A new account would see what is hidden from its creator.
  if (!isUnrestricted(viewer)) throw new Forbidden('Missing required permission: SystemAdmin')
  const granted = parsePermissions(extras.filter(name => name !== ''))
  const missing = [...effectivePermissions(role, granted, null)].find(
    name => !permissions.has(name) && !permissionsOfRole.reader.includes(name),
  )
  if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
}
