// Sessions: signing in, staying in by refresh tokens of one use each, and signing out.
import { createHash, randomBytes } from 'node:crypto'
import { Unauthorized } from '../errors.ts'
import { newId } from '../id.ts'
import { inBatches } from '../postgres/batch.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
import type { Auth } from './auth.ts'
import type { Account } from './identify.ts'
import { identityOfName } from './identity.ts'
import { hashPassword, isOutdated, verifyPassword } from './password.ts'

/** Tokens of a session; `expiresIn` is the life of the access token in seconds. */
export type Tokens = { accessToken: string; expiresIn: number; refreshToken: string }
export type SignedIn = Tokens & { account: Account }

// A client that lost the answer asks again with the same token.
const graceMs = 10_000

/**
 * Signs in with a user name or an e-mail address. Throws Unauthorized: the same, and after the same
 * time, for an unknown name as for a wrong password.
 */
export async function signIn(
  auth: Auth,
  { name, password }: { name: string; password: string },
): Promise<SignedIn> {
  const found = await identityOfName(auth.sql, name)
  const fits = await verifyPassword(found?.passwordHash ?? null, password)
  if (!found || !fits) throw new Unauthorized('Invalid credentials')
  if (!found.isActive) throw new Unauthorized('Account is inactive')
  const { account } = found.identity
  const hash = isOutdated(found.passwordHash) ? await hashPassword(password) : found.passwordHash
  const session = await auth.sql.begin(async tx => {
    // Who changes the password meanwhile ends all sessions: this one must not come after that.
    const [same] = await tx`
      update account set last_login_at = now()
      where id = ${account.id} and is_active and password_hash = ${found.passwordHash}
      returning id`
    if (!same) throw new Unauthorized('Invalid credentials')
    if (hash !== found.passwordHash)
      await tx`update account set password_hash = ${hash} where id = ${account.id}`
    return startSession(tx, auth, account.id)
  })
  return { ...(await tokensOf(auth, account, session)), account }
}

export type Session = { sessionId: string; refreshToken: string }

/** A new session of an account that has proved itself. */
export async function startSession(tx: Transaction, auth: Auth, accountId: string) {
  const sessionId = newId()
  await tx`
    insert into session (id, account_id, expires_at)
    values (${sessionId}, ${accountId}, ${sessionEnd(auth)})`
  return { sessionId, refreshToken: await addRefreshToken(tx, sessionId) }
}

/** The access token that goes with a session. */
export async function tokensOf(auth: Auth, account: Account, session: Session): Promise<Tokens> {
  const { token, expiresIn } = await auth.tokens.sign(account, session.sessionId)
  return { accessToken: token, expiresIn, refreshToken: session.refreshToken }
}

type Shown = Account & {
  sessionId: string
  isLive: boolean
  isUnused: boolean
  /** Used a moment ago, and what was given for it never used. */
  isRetry: boolean
}

/**
 * New tokens for a refresh token, which is used up. One that is shown again was copied: its session
 * ends, unless the answer to its first use seems to have been lost. Throws Unauthorized.
 */
export async function refresh(auth: Auth, refreshToken: string): Promise<SignedIn> {
  const digest = digestOf(refreshToken)
  const { shown, next } = await auth.sql.begin(async tx => {
    const shown = await showToken(tx, digest)
    if (!shown?.isLive) return { shown, next: null }
    if (!shown.isUnused && !shown.isRetry) {
      await tx`update session set revoked_at = now() where id = ${shown.sessionId}`
      return { shown, next: null }
    }
    await tx`
      update refresh_token set
        used_at = case when sha256 = ${digest} then clock_timestamp() end,
        voided_at = case when sha256 <> ${digest} then clock_timestamp() end
      where session_id = ${shown.sessionId} and used_at is null and voided_at is null`
    await tx`
      update session set used_at = now(), expires_at = ${sessionEnd(auth)}
      where id = ${shown.sessionId}`
    return { shown, next: await addRefreshToken(tx, shown.sessionId) }
  })
  if (!shown || next === null) {
    if (shown?.isLive) {
      auth.identities.drop(shown.id)
      const { id: accountId, sessionId } = shown
      auth.log.warn({ accountId, sessionId }, 'a used refresh token was shown again')
    }
    throw new Unauthorized('The refresh token is not valid')
  }
  const { id, username, email, role, emailVerified, permissions, sessionId } = shown
  const account = { id, username, email, role, emailVerified, permissions }
  return { ...(await tokensOf(auth, account, { sessionId, refreshToken: next })), account }
}

/** Ends a session, and that of a refresh token if it is of the same account. */
export async function signOut(
  { sql, identities }: Auth,
  accountId: string,
  { sessionId, refreshToken }: { sessionId: string | null; refreshToken?: string | undefined },
): Promise<void> {
  const digest = refreshToken === undefined ? null : digestOf(refreshToken)
  await sql`
    update session set revoked_at = now()
    where account_id = ${accountId} and revoked_at is null
      and (id = ${sessionId}::uuid
        or id = (select session_id from refresh_token where sha256 = ${digest}::bytea))`
  identities.drop(accountId)
}

/**
 * Removes what has ended: sessions, tokens too old to be shown again, confirmations, and accounts never
 * confirmed. Answers how many of each.
 */
export async function sweep(
  { sql, settings }: Pick<Auth, 'sql' | 'settings'>,
  stop: () => boolean = () => false,
) {
  const days = settings.refresh_token_days
  return {
    sessions: await inBatches(
      most => sql`
        delete from session
        where id in (
          select id from session
          where expires_at < now() or revoked_at < now() - interval '1 day'
          limit ${most})`,
      stop,
    ),
    refreshTokens: await inBatches(
      most => sql`
        delete from refresh_token
        where sha256 in (
          select sha256 from refresh_token
          where coalesce(used_at, voided_at) < now() - make_interval(days => ${days})
          limit ${most})`,
      stop,
    ),
    // Old letters tell an account that waits from one that was deactivated.
    confirmations: await inBatches(
      most => sql`
        delete from email_verification
        where sha256 in (
          select v.sha256 from email_verification v join account a on a.id = v.account_id
          where v.expires_at < now() and (a.is_active or a.email_verified)
          limit ${most})`,
      stop,
    ),
    accounts: await inBatches(most => deleteUnconfirmed(sql, most), stop),
  }
}

const deleteUnconfirmed = (sql: Sql, most: number) => sql`
  delete from account
  where id in (
    select id from account a
    where not is_active and not email_verified and last_login_at is null
      and created_at < now() - interval '7 days'
      and (email is null
        or exists (select from email_verification v where v.account_id = a.id))
    limit ${most})`

// Locks both rows: of two who show the same token at once, the second sees it used.
async function showToken(tx: Transaction, digest: Buffer): Promise<Shown | null> {
  const [found] = await tx<{ sessionId: string }[]>`
    select n.id as "sessionId"
    from refresh_token r join session n on n.id = r.session_id
    where r.sha256 = ${digest} for no key update of n`
  if (!found) return null
  const [shown] = await tx<Shown[]>`
    select a.id, a.username, coalesce(a.email, '') as email, a.role, a.permissions,
      a.email_verified as "emailVerified", n.id as "sessionId",
      n.revoked_at is null and n.expires_at > now() and a.is_active as "isLive",
      r.used_at is null and r.voided_at is null as "isUnused",
      coalesce(r.used_at > clock_timestamp() - make_interval(secs => ${graceMs / 1000})
        and not exists (
          select from refresh_token later
          where later.session_id = n.id and later.used_at > r.used_at), false) as "isRetry"
    from refresh_token r
    join session n on n.id = r.session_id
    join account a on a.id = n.account_id
    where r.sha256 = ${digest}`
  return shown ?? null
}

async function addRefreshToken(tx: Transaction, sessionId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await tx`
    insert into refresh_token (sha256, session_id) values (${digestOf(token)}, ${sessionId})`
  return token
}

function sessionEnd({ settings }: Auth): Date {
  return new Date(Date.now() + settings.refresh_token_days * 86_400_000)
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
