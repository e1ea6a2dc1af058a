// Authentication of requests: credential -> identity, cached. Only the first request with a credential hashes
// a password or queries the database. Every account change invalidates its cached identities in all
// processes.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../base/async/cache-size.ts'
import { Unauthorized } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Sql } from '../store/postgres/db.ts'
import { createKeyUsageLog, parseKey } from './api-key.ts'
import { renewClientSession } from './client-session.ts'
import { type Credential, parseCredential, type TokenCredential } from './credential.ts'
import {
  findIdentityByClientSession,
  findIdentityByKey,
  findIdentityByKoreaderKey,
  findIdentityByName,
  findIdentityBySession,
  findImpersonatedIdentity,
  type Identity,
  type ResolvedIdentity,
} from './identity.ts'
import { type CachedIdentity, createIdentityCache } from './identity-cache.ts'
import { verifyPassword } from './password.ts'
import { hashSecret } from './secret.ts'
import type { AccessTokens } from './token.ts'

export type { Account, Identity } from './identity.ts'

export type IdentifyRequest = {
  headers: IncomingHttpHeaders
  /** The client's address, as far as proxies are trusted. */
  address: string
  /** A credential that is not in the usual headers. */
  credential?: Credential | null
}
/** Called before a password is compared; may throw RateLimited. */
export type BeforePassword = (address: string, name: string) => void | Promise<void>

export type IdentifyOptions = {
  /** Name of the cookie that is accepted. */
  cookie?: string | null
  /** Also accepts tokens of accounts shown to an administrator, which can only read. */
  impersonationAllowed?: boolean
  beforePassword?: BeforePassword
}

export type IdentityResolver = Awaited<ReturnType<typeof openIdentityResolver>>

/** Passed in place of an account id to invalidate everything. */
export const allAccounts = '*'

const cacheMs = 60_000
const rejectedCacheMs = 10_000

type Lookup = {
  sql: Sql
  tokens: AccessTokens
  /** Password hashes by digest of Basic credentials that matched them. */
  verifiedPasswords: LRUCache<string, string>
}

/** Listens for account changes until it is closed. */
export async function openIdentityResolver(sql: Sql, tokens: AccessTokens, log: Pick<Log, 'warn'>) {
  const keyUsage = createKeyUsageLog(sql, err => log.warn({ err }, 'api key usage not stored'))
  const lookup: Lookup = { sql, tokens, verifiedPasswords: new LRUCache(entriesUpTo(2000)) }
  const cache = createIdentityCache()
  const digestKey = randomBytes(32).toString('hex')
  const invalidateAll = () => {
    cache.clear()
    tokens.reload()
  }
  /** Invalidates an account, or `allAccounts`, in this process; other processes are notified by the database. */
  const invalidate = (id: string) => (id === allAccounts ? invalidateAll() : cache.invalidate(id))
  // After a lost connection notifications may have been missed.
  const subscription = await sql.listen('account', invalidate, invalidateAll)

  function authenticate(credential: Credential, request: PasswordRequest): Promise<CachedIdentity> {
    if (credential.kind === 'basic') return lookUpPassword(lookup, credential, request)
    if (credential.kind === 'key') return lookUpKey(lookup, credential)
    if (credential.kind === 'koreader') return lookUpKoreaderKey(lookup, credential)
    return lookUpToken(lookup, credential)
  }

  const digestOf = (kind: string, secret: string) =>
    hash('sha256', `${digestKey} ${kind} ${secret}`, 'base64')

  return {
    /**
     * The identity of a request; null without credentials. Throws Unauthorized when the first credential
     * is not valid, even if another one follows; and what `beforePassword` throws.
     */
    async identify(
      { headers, address, credential: own = null }: IdentifyRequest,
      { cookie = null, impersonationAllowed = false, beforePassword }: IdentifyOptions = {},
    ): Promise<Identity | null> {
      const credential = own ?? parseCredential(headers, { cookie })
      if (credential === null) return null
      const digest = digestOf(credential.kind, credential.secret)
      const request = {
        digest,
        beforePassword: async (name: string) => beforePassword?.(address, name),
      }
      const entry =
        cache.get(digest) ?? (await cache.load(digest, () => authenticate(credential, request)))
      if (entry.identity === null) throw new Unauthorized(entry.message)
      if (entry.identity.actorId !== null && !impersonationAllowed)
        throw new Unauthorized('This access token is accepted by the API only')
      if (entry.identity.keyId) keyUsage.record(entry.identity.keyId)
      return entry.identity
    },
    /** The identity of an app's session; null when it is unknown or has ended. */
    async identifySession(secret: string): Promise<Identity | null> {
      const digest = digestOf('session', secret)
      const { identity } =
        cache.get(digest) ?? (await cache.load(digest, () => lookUpSession(lookup, secret)))
      if (identity?.keyId) keyUsage.record(identity.keyId)
      return identity
    },
    invalidate,
    async close() {
      await subscription.unlisten()
      await keyUsage.close()
    },
  }
}

type PasswordRequest = { digest: string; beforePassword: (name: string) => Promise<void> }

async function lookUpToken({ sql, tokens }: Lookup, { kind, secret }: TokenCredential) {
  const { expires, actorId, ...claims } = await tokens.verify(secret)
  const source = { ...claims, credentialKind: kind }
  const resolved =
    actorId === null
      ? await findIdentityBySession(sql, source)
      : await findImpersonatedIdentity(sql, { ...source, actorId })
  if (!resolved) return rejected('The session has ended', 0)
  return accepted(resolved, expires)
}

async function lookUpSession({ sql }: Lookup, secret: string): Promise<CachedIdentity> {
  const resolved = await findIdentityByClientSession(sql, hashSecret(secret))
  if (!resolved) return rejected('The session has ended', 0)
  const { usedAt, ...found } = resolved
  await renewClientSession(sql, { secret, usedAt })
  return accepted(found, Number.POSITIVE_INFINITY)
}

async function lookUpKey({ sql }: Lookup, { secret }: Credential): Promise<CachedIdentity> {
  const parts = parseKey(secret)
  const resolved = parts && (await findIdentityByKey(sql, parts.prefix))
  if (!resolved || !timingSafeEqual(resolved.secret, hashSecret(parts.secret)))
    return rejected('The API key is not valid', 0)
  return accepted(resolved, Number.POSITIVE_INFINITY)
}

async function lookUpKoreaderKey(
  { sql }: Lookup,
  { name, keyMd5 }: { name: string; keyMd5: string },
): Promise<CachedIdentity> {
  const resolved = await findIdentityByKoreaderKey(sql, name, hashSecret(keyMd5))
  return resolved
    ? accepted(resolved, Number.POSITIVE_INFINITY)
    : rejected('Wrong user name or password; use an API key as the password', 0)
}

async function lookUpPassword(
  { sql, verifiedPasswords }: Lookup,
  { name, password }: { name: string; password: string },
  { digest, beforePassword }: PasswordRequest,
): Promise<CachedIdentity> {
  const account = await findIdentityByName(sql, name)
  const hash = account?.passwordHash ?? null
  if (hash === null || verifiedPasswords.get(digest) !== hash) {
    await beforePassword(name)
    if (!(await verifyPassword(hash, password)))
      return rejected('Invalid credentials', rejectedCacheMs, account?.identity.account.id)
    verifiedPasswords.set(digest, hash!)
  }
  if (!account?.isActive) return rejected('Account is inactive', 0)
  const until = Number.POSITIVE_INFINITY
  return accepted({ identity: account.identity, until }, until)
}

function accepted({ identity, until }: ResolvedIdentity, credentialUntil: number): CachedIdentity {
  const earliest = Math.min(until, credentialUntil, Date.now() + cacheMs)
  const { account, actorId } = identity
  return { identity, until: earliest, accountIds: actorId ? [account.id, actorId] : [account.id] }
}

function rejected(message: string, cacheForMs: number, accountId?: string): CachedIdentity {
  const accountIds = accountId === undefined ? [] : [accountId]
  return { identity: null, message, until: Date.now() + cacheForMs, accountIds }
}
