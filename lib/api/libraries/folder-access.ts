// Access to folders of the server: a request that names one learns what it contains, also where books are
// that the account may not see.
import type { Identity } from '../../auth/identify.ts'
import { Forbidden } from '../../errors.ts'
import { hasFullAccess } from '../../metrics/inventory.ts'
import type { Sql } from '../../postgres/db.ts'

/** Throws Forbidden unless the caller is an administrator, or nothing is hidden from the account. */
export async function requireFolderAccess(
  sql: Sql,
  { permissions, viewer }: Identity,
): Promise<void> {
  if (permissions.has('SystemAdmin') || (await hasFullAccess(sql, viewer))) return
  throw new Forbidden('Missing required permission: SystemAdmin')
}
