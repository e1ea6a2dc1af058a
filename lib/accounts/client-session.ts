// Sessions of reading apps: a random secret in a cookie or header stands for the credential that started the
// session, and ends with it. Only its digest is stored.
import { randomBytes } from 'node:crypto'
import { newId } from '../base/id.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import type { Identity } from './identity.ts'
import { hashSecret } from './secret.ts'

const secretPattern = /^[\w-]{43}$/
/** A session unused for this long ends. */
export const sessionDays = 7
const renewAfterMs = 60 * 60_000
// Apps that drop cookies get a new session after each restart of the server.
const maxPerAccount = 100

/** Whether a text can be the secret of a session. */
export const isSessionSecret = (text: string): boolean => secretPattern.test(text)

type Start = {
  identity: Pick<Identity, 'account' | 'keyId' | 'sessionId' | 'passwordDigest'>
  days: number
  /** Network of the client, as the rate limit knows it. */
  address: string
}

/**
 * Starts a session with the permissions of the identity; it ends with its API key, its access token's session, or
 * a change of the password. Null when the credential is no longer valid. Returns the secret.
 */
export async function startClientSession(sql: Sql, { identity, days, address }: Start) {
  const { account, keyId, sessionId, passwordDigest = null } = identity
  const secret = randomBytes(32).toString('base64url')
  return await sql.begin(async tx => {
    // Locked: a concurrent change of the password ends either this session or the attempt to start it.
    const [unchanged] = await tx`
      select from account
      where id = ${account.id} and is_active and (${passwordDigest}::bytea is null
        or sha256(convert_to(password_hash, 'UTF8')) = ${passwordDigest}::bytea)
      for no key update`
    if (!unchanged) return null
    const id = sessionId ?? newId()
    await tx`
      insert into session (id, account_id, expires_at, address)
      values (${id}, ${account.id}, now() + make_interval(days => ${days}), ${address})
      on conflict (id) do nothing`
    await tx`
      insert into client_session (sha256, session_id, api_key_id, expires_at)
      values (${hashSecret(secret)}, ${id}, ${keyId}, now() + make_interval(days => ${days}))`
    await endSurplus(tx, account.id)
    return secret
  })
}

/** Deletes the least recently used, with the sign-in sessions that were started for them alone. */
async function endSurplus(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    with surplus as (
      delete from client_session
      where sha256 in (
        select c.sha256 from client_session c join session n on n.id = c.session_id
        where n.account_id = ${accountId}
        order by c.used_at desc, c.sha256 offset ${maxPerAccount})
      returning sha256, session_id
    )
    delete from session n
    where n.id in (select session_id from surplus)
      and not exists (select from refresh_token r where r.session_id = n.id)
      and not exists (
        select from client_session c
        where c.session_id = n.id and c.sha256 not in (select sha256 from surplus))`
}

/** Extends a session that was not used for an hour; one that ends later anyway is unchanged. */
export async function renewClientSession(
  sql: Sql,
  { secret, usedAt }: { secret: string; usedAt: Date },
): Promise<void> {
  if (Date.now() - usedAt.getTime() < renewAfterMs) return
  const end = sql`now() + make_interval(days => ${sessionDays})`
  await sql`
    with renewed as (
      update client_session set used_at = now(), expires_at = greatest(expires_at, ${end})
      where sha256 = ${hashSecret(secret)}
      returning session_id, expires_at
    )
    update session n set used_at = now(), expires_at = greatest(n.expires_at, r.expires_at)
    from renewed r where n.id = r.session_id`
}

/** Ends the sessions of these secrets. Returns the accounts whose identities are to be invalidated. */
export async function endClientSessions(sql: Sql, secrets: readonly string[]): Promise<string[]> {
  const digests = secrets.map(secret => hashSecret(secret).toString('hex'))
  const rows = await sql<{ accountId: string }[]>`
    update session n set revoked_at = now()
    from client_session c
    where c.sha256 in (select decode(hex, 'hex') from unnest(${digests}::text[]) as hex)
      and n.id = c.session_id
      and n.revoked_at is null
    returning n.account_id as "accountId"`
  return rows.map(row => row.accountId)
}
