// Sessions: sign-in, rotation of single-use refresh tokens, sign-out, clean-up.
import { randomBytes } from 'node:crypto'
import { Unauthorized } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { deleteInBatches } from '../store/postgres/batch.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import type { Auth } from './auth.ts'
import type { Account } from './identify.ts'
import { findIdentityByName, normalizedName } from './identity.ts'
import { hashPassword, isOutdated, verifyPassword } from './password.ts'
import { hashSecret } from './secret.ts'

/** Tokens of a session; `expiresIn` is the lifetime of the access token in seconds. */
export type Tokens = { accessToken: string; expiresIn: number; refreshToken: string }
export type SignedIn = Tokens & { account: Account }

// A second tab with the same token, or a client that did not receive the response, uses it again.
const reuseGraceMs = 10_000
const maxReuses = 50

/**
 * Signs in with a user name or e-mail address. Throws Unauthorized, with the same message and after the
 * same time for an unknown name as for a wrong password.
 */
export async function signIn(
  auth: Auth,
  { name, password, address }: { name: string; password: string; address?: string },
): Promise<SignedIn> {
  const user = await findIdentityByName(auth.sql, name)
  const matches = await verifyPassword(user?.passwordHash ?? null, password)
  if (!user || !matches) throw new Unauthorized('Invalid credentials')
  if (!user.isActive) throw new Unauthorized('Account is inactive', { reason: 'account_inactive' })
  const { account } = user.identity
  const hash = isOutdated(user.passwordHash) ? await hashPassword(password) : user.passwordHash
  const session = await auth.sql.begin(async tx => {
    // A concurrent password change ends all sessions; this session must not start after it.
    const [unchanged] = await tx`
      update account set last_login_at = now()
      where id = ${account.id} and is_active and password_hash = ${user.passwordHash}
      returning id`
    if (!unchanged) throw new Unauthorized('Invalid credentials')
    if (hash !== user.passwordHash)
      await tx`update account set password_hash = ${hash} where id = ${account.id}`
    return startSession(tx, auth, account.id, address)
  })
  return { ...(await issueTokens(auth, account, session)), account }
}

export type Session = { sessionId: string; refreshToken: string }

/** Starts a session of an authenticated account. `address`: the client's network, if known. */
export async function startSession(
  tx: Transaction,
  auth: Auth,
  accountId: string,
  address: string | null = null,
) {
  const sessionId = newId()
  await tx`
    insert into session (id, account_id, expires_at, address)
    values (${sessionId}, ${accountId}, ${sessionExpiry(auth)}, ${address})`
  return { sessionId, refreshToken: await addRefreshToken(tx, sessionId) }
}

/** Whether the account of that name has a session started from an address. */
export async function hasSessionFrom(sql: Sql, name: string, address: string): Promise<boolean> {
  if (name.includes('\0')) return false
  const normalized = normalizedName(name)
  const [row] = await sql`
    select from account a join session n on n.account_id = a.id
    where (lower(a.username) = lower(${normalized}) or lower(a.email) = lower(${normalized}))
      and n.address = ${address} and n.revoked_at is null and n.expires_at > now()
    limit 1`
  return row !== undefined
}

/** Signs an access token for a session. */
export async function issueTokens(auth: Auth, account: Account, session: Session): Promise<Tokens> {
  const { token, expiresIn } = await auth.tokens.sign(account, session.sessionId)
  return { accessToken: token, expiresIn, refreshToken: session.refreshToken }
}

type PresentedToken = Account & {
  sessionId: string
  isLive: boolean
  isUnused: boolean
  /** Used within the grace period, not too often, and before any later token of the session. */
  isInGrace: boolean
}

/**
 * Exchanges a refresh token for new tokens. Within a grace period every tab that uses the same token gets
 * its own valid successor. A later use means that the token was copied: the session ends, with all
 * successors. Throws Unauthorized.
 */
export async function refresh(auth: Auth, refreshToken: string): Promise<SignedIn> {
  const digest = hashSecret(refreshToken)
  const { presented, next } = await auth.sql.begin(async tx => {
    const presented = await lockRefreshToken(tx, digest)
    if (!presented?.isLive) return { presented, next: null }
    if (!presented.isUnused && !presented.isInGrace) {
      await tx`update session set revoked_at = now() where id = ${presented.sessionId}`
      return { presented, next: null }
    }
    await tx`
      update refresh_token set used_at = clock_timestamp()
      where sha256 = ${digest} and used_at is null`
    await tx`
      update session set used_at = now(), expires_at = ${sessionExpiry(auth)}
      where id = ${presented.sessionId}`
    return { presented, next: await addRefreshToken(tx, presented.sessionId) }
  })
  if (!presented || next === null) {
    if (presented?.isLive) {
      auth.identities.invalidate(presented.id)
      const { id: accountId, sessionId } = presented
      auth.log.warn({ accountId, sessionId }, 'refresh token reused')
    }
    throw new Unauthorized('The refresh token is not valid')
  }
  const { id, username, email, role, emailVerified, permissions, sessionId } = presented
  const account = { id, username, email, role, emailVerified, permissions }
  return { ...(await issueTokens(auth, account, { sessionId, refreshToken: next })), account }
}

/** Ends a session, and the session of a refresh token if it belongs to the same account. */
export async function signOut(
  { sql, identities }: Auth,
  accountId: string,
  { sessionId, refreshToken }: { sessionId: string | null; refreshToken?: string | undefined },
): Promise<void> {
  const digest = refreshToken === undefined ? null : hashSecret(refreshToken)
  await sql`
    update session set revoked_at = now()
    where account_id = ${accountId} and revoked_at is null
      and (id = ${sessionId}::uuid
        or id = (select session_id from refresh_token where sha256 = ${digest}::bytea))`
  identities.invalidate(accountId)
}

/**
 * Deletes ended sessions, old refresh tokens, expired confirmations and accounts that were never
 * confirmed. Returns the number of each.
 */
export async function deleteExpired(
  { sql, settings }: Pick<Auth, 'sql' | 'settings'>,
  isStopped: () => boolean = () => false,
) {
  const days = settings.refresh_token_days
  const inBatches = (statement: Parameters<typeof deleteInBatches>[0]) =>
    deleteInBatches(statement, isStopped)
  return {
    sessions: await inBatches(
      limit => sql`
        delete from session
        where id in (
          select id from session
          where expires_at < now() or revoked_at < now() - interval '1 day'
          limit ${limit})`,
    ),
    refreshTokens: await inBatches(
      limit => sql`
        delete from refresh_token
        where sha256 in (
          select sha256 from refresh_token
          where coalesce(used_at, created_at) < now() - make_interval(days => ${days})
          limit ${limit})`,
    ),
    clientSessions: await inBatches(
      limit => sql`
        delete from client_session
        where sha256 in (select sha256 from client_session where expires_at < now() limit ${limit})`,
    ),
    // An expired confirmation distinguishes an unconfirmed account from a deactivated one.
    confirmations: await inBatches(
      limit => sql`
        delete from email_verification
        where sha256 in (
          select v.sha256 from email_verification v join account a on a.id = v.account_id
          where v.expires_at < now() and (a.is_active or a.email_verified)
          limit ${limit})`,
    ),
    accounts: await inBatches(
      limit => sql`
        delete from account
        where id in (
          select id from account a
          where not is_active and not email_verified and last_login_at is null
            and created_at < now() - interval '7 days'
            and (email is null
              or exists (select from email_verification v where v.account_id = a.id))
          limit ${limit})`,
    ),
  }
}

// Locks the session: of two concurrent requests with the same token, the second one sees it as used.
async function lockRefreshToken(tx: Transaction, digest: Buffer): Promise<PresentedToken | null> {
  const [session] = await tx<{ sessionId: string }[]>`
    select n.id as "sessionId"
    from refresh_token r join session n on n.id = r.session_id
    where r.sha256 = ${digest} for no key update of n`
  if (!session) return null
  const [presented] = await tx<PresentedToken[]>`
    select a.id, a.username, coalesce(a.email, '') as email, a.role, a.permissions,
      a.email_verified as "emailVerified", n.id as "sessionId",
      n.revoked_at is null and n.expires_at > now() and a.is_active as "isLive",
      r.used_at is null as "isUnused",
      coalesce(r.used_at > clock_timestamp() - make_interval(secs => ${reuseGraceMs / 1000})
        and (
          select count(*) <= ${maxReuses} and count(used_at) = 0 from refresh_token later
          where later.session_id = n.id and later.created_at >= r.used_at), false) as "isInGrace"
    from refresh_token r
    join session n on n.id = r.session_id
    join account a on a.id = n.account_id
    where r.sha256 = ${digest}`
  return presented ?? null
}

async function addRefreshToken(tx: Transaction, sessionId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await tx`
    insert into refresh_token (sha256, session_id) values (${hashSecret(token)}, ${sessionId})`
  return token
}

function sessionExpiry({ settings }: Auth): Date {
  return new Date(Date.now() + settings.refresh_token_days * 86_400_000)
}
