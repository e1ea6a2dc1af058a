// Access to folders of the server: a request that names a folder reveals what it contains, even books that
// the account may not see.
import type { Identity } from '../../../accounts/identify.ts'
import { Forbidden } from '../../../base/errors.ts'
import { hasFullAccess } from '../../../store/metrics/inventory.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import type { SettingsAccess } from '../library-access.ts'

/** Whether the caller is an administrator or an account from which nothing is hidden. */
async function hasFolderAccess(sql: Sql, { permissions, viewer }: Identity): Promise<boolean> {
  return permissions.has('SystemAdmin') || (await hasFullAccess(sql, viewer))
}

/** Throws Forbidden for a caller without access to folders. */
export async function requireFolderAccess(sql: Sql, identity: Identity): Promise<void> {
  if (await hasFolderAccess(sql, identity)) return
  throw new Forbidden('Missing required permission: SystemAdmin')
}

export async function settingsAccess(sql: Sql, identity: Identity): Promise<SettingsAccess> {
  const { permissions, viewer } = identity
  return { permissions, viewer, hasFolders: await hasFolderAccess(sql, identity) }
}
