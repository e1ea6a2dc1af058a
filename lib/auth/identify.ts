// Request → identity, remembered: after the first request of a credential neither a password is
// hashed nor the database asked. Whatever changes an account makes every process forget it.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { Unauthorized } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Sql } from '../postgres/db.ts'
import { digestOfSecret, type KeyUses, keyUses, splitKey } from './api-key.ts'
import { type Credential, credentialOf } from './credential.ts'
import {
  type Found,
  type Identity,
  identityOfKey,
  identityOfName,
  identityOfSession,
} from './identity.ts'
import { type Recollection, recollection } from './identity-cache.ts'
import { verifyPassword } from './password.ts'
import type { AccessTokens } from './token.ts'

export type { Account, Identity } from './identity.ts'

export type Requester = {
  headers: IncomingHttpHeaders
  /** Of the client, as far as proxies are trusted. */
  address: string
  /** An API key that stood in the path. */
  key?: string | null
}
/** Called before a password is compared; may throw Limited. */
export type BeforePassword = (address: string, name: string) => void | Promise<void>

export type Identities = {
  /**
   * Who asks; null when nobody says so. Throws Unauthorized when a credential is no good, even if
   * another one follows; and what `beforePassword` throws.
   */
  identify(
    request: Requester,
    options?: { cookieAllowed?: boolean; beforePassword?: BeforePassword },
  ): Promise<Identity | null>
  /** Forgets an account, or `everyone`, at once in this process; the database tells the others. */
  drop(accountId: string): void
  close(): Promise<void>
}

/** In place of an account's id: whatever is known of anyone is old. */
export const everyone = '*'

const usualMs = 60_000
const refusedMs = 10_000

type Known = {
  sql: Sql
  tokens: AccessTokens
  /** Credentials of Basic that were right, with the hash that they fit. */
  fitting: LRUCache<string, string>
  uses: KeyUses
}

/** Begins to listen for changes of accounts. */
export async function openIdentities(
  sql: Sql,
  tokens: AccessTokens,
  log: Pick<Log, 'warn'>,
): Promise<Identities> {
  const uses = keyUses(sql, err => log.warn({ err }, 'use of API keys not written'))
  const known: Known = { sql, tokens, fitting: new LRUCache({ max: 2000 }), uses }
  const memory = recollection()
  const secretOfProcess = randomBytes(32)
  const forgetAll = () => {
    memory.dropAll()
    tokens.forget()
  }
  const listening = await sql.listen(
    'account',
    id => (id === everyone ? forgetAll() : memory.drop(id)),
    // Also after a lost connection: nobody knows what was said meanwhile.
    forgetAll,
  )
  return {
    async identify(
      { headers, address, key = null },
      { cookieAllowed = false, beforePassword } = {},
    ) {
      const credential = credentialOf(headers, { cookieAllowed, key })
      if (credential === null) return null
      const digest = createHmac('sha256', secretOfProcess)
        .update(`${credential.means}\0${credential.secret}`)
        .digest('base64')
      const before = async (name: string) => beforePassword?.(address, name)
      const recalled =
        memory.recall(digest) ??
        (await memory.learn(digest, () => look(known, credential, { digest, before })))
      if (recalled.identity === null) throw new Unauthorized(recalled.refusal)
      if (recalled.identity.keyId) uses.note(recalled.identity.keyId)
      return recalled.identity
    },
    drop: id => (id === everyone ? forgetAll() : memory.drop(id)),
    async close() {
      await listening.unlisten()
      await uses.close()
    },
  }
}

type Asking = { digest: string; before: (name: string) => Promise<void> }

function look(known: Known, credential: Credential, asking: Asking): Promise<Recollection> {
  if (credential.means === 'basic') return ofPassword(known, credential, asking)
  if (credential.means === 'key') return ofKey(known, credential.secret)
  return ofToken(known, { token: credential.secret, means: credential.means })
}

async function ofToken(
  { sql, tokens }: Known,
  { token, means }: { token: string; means: 'token' | 'cookie' },
): Promise<Recollection> {
  const { expires, ...claims } = await tokens.verify(token)
  const found = await identityOfSession(sql, { ...claims, means })
  if (!found) return refused('The session has ended', 0)
  return remembered(found, expires)
}

async function ofKey({ sql }: Known, key: string): Promise<Recollection> {
  const parts = splitKey(key)
  const found = parts && (await identityOfKey(sql, parts.prefix))
  if (!found || !timingSafeEqual(found.secret, digestOfSecret(parts.secret)))
    return refused('The API key is not valid', 0)
  return remembered(found, Number.POSITIVE_INFINITY)
}

async function ofPassword(
  { sql, fitting }: Known,
  { name, password }: { name: string; password: string },
  { digest, before }: Asking,
): Promise<Recollection> {
  const found = await identityOfName(sql, name)
  const hash = found?.passwordHash ?? null
  if (hash === null || fitting.get(digest) !== hash) {
    await before(name)
    if (!(await verifyPassword(hash, password)))
      return refused('Invalid credentials', refusedMs, found?.identity.account.id)
    fitting.set(digest, hash!)
  }
  if (!found?.isActive) return refused('Account is inactive', 0)
  return remembered({ identity: found.identity, until: Number.POSITIVE_INFINITY }, usualEnd())
}

const usualEnd = () => Date.now() + usualMs

function remembered({ identity, until }: Found, alsoUntil: number): Recollection {
  const end = Math.min(until, alsoUntil, usualEnd())
  return { identity, until: end, accountId: identity.account.id }
}

function refused(refusal: string, forMs: number, accountId?: string): Recollection {
  return { identity: null, refusal, until: Date.now() + forMs, accountId: accountId ?? null }
}
