// Impersonation: short-lived tokens that show an administrator the application as another account sees it.
import { Forbidden, NotFound } from '../base/errors.ts'
import type { Auth } from './auth.ts'
import { findImpersonatedIdentity, type Identity } from './identity.ts'

const minutes = 15

/** `expiresIn` in seconds. The identity has only the account's read permissions. */
export type ImpersonationToken = { accessToken: string; expiresIn: number; identity: Identity }

/**
 * A token for an account that the caller may manage. It ends with the caller's session, and when either
 * accounts is disabled. Throws Forbidden without a session, NotFound for an account that is not active.
 */
export async function issueImpersonationToken(
  { sql, tokens, log }: Pick<Auth, 'sql' | 'tokens' | 'log'>,
  caller: Identity,
  accountId: string,
): Promise<ImpersonationToken> {
  const { sessionId, credentialKind } = caller
  if (sessionId === null) throw new Forbidden('Requires the access token of a sign-in')
  const actorId = caller.account.id
  const source = { accountId, actorId, sessionId, credentialKind }
  const found = await findImpersonatedIdentity(sql, source)
  if (found === null) throw new NotFound('The account is not active')
  const { identity } = found
  const { token, expiresIn } = await tokens.sign(identity.account, sessionId, { actorId, minutes })
  log.info({ accountId, actorId, sessionId, expiresIn }, 'impersonation token issued')
  return { accessToken: token, expiresIn, identity }
}
