// Checks that the caller may manage an account or its API keys.

import { Forbidden } from '../../base/errors.ts'
import type { Identity } from '../identify.ts'
import { missingToManage } from '../manageable.ts'
import type { Role } from '../permission.ts'

/** Throws Forbidden unless the caller may create or change an account with these permissions. */
export function requireManageable(
  identity: Identity,
  account: { role?: Role; permissions?: readonly string[] },
): void {
  const missing = missingToManage(identity, account)
  if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
}
