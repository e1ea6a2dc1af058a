// What people change of their own account.
import { Forbidden, Invalid } from '../errors.ts'
import { changeAccount } from './account.ts'
import type { Auth } from './auth.ts'
import type { Identity } from './identify.ts'
import { verifyPassword } from './password.ts'
import { resendVerification } from './registration.ts'

/**
 * A new password, which ends all other sessions. Throws Invalid when the current one is not right or the
 * new one is no good, Forbidden for an API key.
 */
export async function changeOwnPassword(
  auth: Auth,
  identity: Identity,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<void> {
  refuseKey(identity)
  const { id } = identity.account
  const stored = await passwordHash(auth, id)
  if (!(await verifyPassword(stored, currentPassword)))
    throw new Invalid('The current password is not right')
  await changeAccount(auth, { id, keepSession: identity.sessionId }, { password: newPassword })
}

/**
 * Another e-mail address, which is not confirmed yet: where addresses must be, a letter is sent to it.
 * Throws Invalid when it is no address or taken, Forbidden for an API key.
 */
export async function changeOwnEmail(auth: Auth, identity: Identity, email: string): Promise<void> {
  refuseKey(identity)
  if (email.trim().toLowerCase() === identity.account.email.toLowerCase()) return
  await changeAccount(auth, { id: identity.account.id }, { email, emailVerified: false })
  if (auth.settings.email_confirmation_required) await resendVerification(auth, email)
}

// A key is for a program and may have got about: it must not lock its owner out.
function refuseKey({ keyId }: Identity) {
  if (keyId !== null) throw new Forbidden('An API key cannot change the account that it belongs to')
}

async function passwordHash({ sql }: Auth, id: string): Promise<string | null> {
  const [row] = await sql<{ hash: string }[]>`
    select password_hash as hash from account where id = ${id}`
  return row?.hash ?? null
}
