// Self-service account changes: password and e-mail address.
import { Forbidden, Invalid } from '../base/errors.ts'
import { changeAccount } from './account.ts'
import type { Auth } from './auth.ts'
import type { Identity } from './identify.ts'
import { verifyPassword } from './password.ts'
import { requestEmailChange } from './registration.ts'

/**
 * Changes the password and ends all other sessions. Throws Invalid when the current password is wrong or
 * the new one is not acceptable, Forbidden for an API key.
 */
export async function changeOwnPassword(
  auth: Auth,
  identity: Identity,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<void> {
  forbidApiKey(identity)
  const { id } = identity.account
  await requireCurrentPassword(auth, id, currentPassword)
  await changeAccount(auth, { id, exceptSessionId: identity.sessionId }, { password: newPassword })
}

/** Throws Invalid unless it is the current password of the account. */
export async function requireCurrentPassword(auth: Auth, accountId: string, password = '') {
  const [row] = await auth.sql<{ hash: string }[]>`
    select password_hash as hash from account where id = ${accountId}`
  if (!(await verifyPassword(row?.hash ?? null, password)))
    throw new Invalid('The current password is incorrect', { reason: 'password_wrong' })
}

/**
 * Changes the e-mail address at once or, if addresses must be confirmed, when the new one is confirmed. Throws
 * Invalid when the address is malformed or, without confirmation, in use; Forbidden for an API key.
 */
export async function changeOwnEmail(auth: Auth, identity: Identity, email: string): Promise<void> {
  forbidApiKey(identity)
  if (email.trim().toLowerCase() === identity.account.email.toLowerCase()) return
  const { account } = identity
  if (auth.settings.email_confirmation_required) await requestEmailChange(auth, account, email)
  else await changeAccount(auth, { id: account.id }, { email, emailVerified: false })
}

const passwordMinutes = 10

/**
 * Changes the password without the current one: only for a caller who has just proved to know it, by HTTP Basic or
 * by signing in within the last few minutes. Throws Forbidden for others, and Invalid.
 */
export async function replaceOwnPassword(auth: Auth, identity: Identity, password: string) {
  forbidApiKey(identity)
  const { credentialKind, sessionId, account } = identity
  const [recent] = await auth.sql`
    select from session
    where id = ${sessionId} and created_at > now() - make_interval(mins => ${passwordMinutes})`
  if (credentialKind !== 'basic' && !recent)
    throw new Forbidden('Sign in with the current password again to change it')
  await changeAccount(auth, { id: account.id, exceptSessionId: sessionId }, { password })
}

/** Throws Forbidden for an API key that would change its own account. */
export function forbidOwnAccountToKey(identity: Identity, accountId: string): void {
  if (accountId === identity.account.id) forbidApiKey(identity)
}

// An API key may have leaked; it must not be able to lock its owner out.
function forbidApiKey({ keyId }: Identity) {
  if (keyId !== null) throw new Forbidden('An API key cannot change its own account')
}
