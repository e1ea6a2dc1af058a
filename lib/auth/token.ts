// Access tokens: JWTs signed with keys that this installation made for itself (RFC 7519, HS256).
import { randomBytes, webcrypto } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { Unauthorized } from '../errors.ts'
import { newId } from '../id.ts'
import type { Sql, Transaction } from '../postgres/db.ts'

/** Longest life of an access token that the configuration allows. */
export const longestAccessMinutes = 1440

const issuer = 'stackroom'
const row = 'jwt_keys'
const leewaySeconds = 5
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What an access token says. `expires` in ms since 1970. */
export type Claims = { accountId: string; sessionId: string; expires: number }
type Subject = { id: string; username: string; role: string }
type StoredKey = { kid: string; secret: string; createdAt: string }
type Ring = { newest: string; keys: Map<string, webcrypto.CryptoKey> }

export type AccessTokens = {
  /** A token of a session, and its life in seconds. */
  sign(account: Subject, sessionId: string): Promise<{ token: string; expiresIn: number }>
  /** Throws Unauthorized when it is not one of ours, was changed, or is over. */
  verify(token: string): Promise<Claims>
  /** Forgets the keys; they are read again when next needed. */
  forget(): void
}

/** Tokens that live for what `minutes` is when they are signed. Keys that other processes made are found by themselves. */
export function accessTokens(sql: Sql, life: { readonly minutes: number }): AccessTokens {
  let ring: Promise<Ring> | null = null
  let readAt = 0
  const read = () => {
    readAt = Date.now()
    const reading = readRing(sql)
    ring = reading
    reading.catch(() => {
      if (ring === reading) ring = null
    })
    return reading
  }

  async function keyOf(kid: string): Promise<webcrypto.CryptoKey> {
    const known = (await (ring ?? read())).keys.get(kid)
    if (known) return known
    // Anyone can make up names of keys: one look a second is enough.
    if (Date.now() - readAt < 1000) throw new Unauthorized(refusal)
    const found = (await read()).keys.get(kid)
    if (!found) throw new Unauthorized(refusal)
    return found
  }

  return {
    async sign({ id, username, role }, sessionId) {
      const { newest, keys } = await (ring ?? read())
      const { minutes } = life
      const token = await new SignJWT({ sid: sessionId, username, role })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: newest })
        .setSubject(id)
        .setIssuer(issuer)
        .setIssuedAt()
        .setExpirationTime(`${minutes} minutes`)
        .sign(keys.get(newest)!)
      return { token, expiresIn: minutes * 60 }
    },
    async verify(token) {
      const { payload } = await jwtVerify(token, ({ kid }) => keyOf(kid ?? ''), {
        algorithms: ['HS256'],
        issuer,
        clockTolerance: leewaySeconds,
        requiredClaims: ['sub', 'sid', 'exp'],
      }).catch(refuse)
      const { sub = '', sid, exp = 0 } = payload
      if (typeof sid !== 'string' || !uuid.test(sid) || !uuid.test(sub))
        throw new Unauthorized(refusal)
      return { accountId: sub, sessionId: sid, expires: (exp + leewaySeconds) * 1000 }
    },
    forget() {
      ring = null
    },
  }
}

/**
 * Signs with a new key from now on. Tokens of earlier keys stay good until they end, unless
 * `distrust` says that a key may have got about.
 */
export async function rotateKeys(sql: Sql, { distrust = false } = {}): Promise<void> {
  await sql.begin(async tx => {
    const keys = await makeKeys(tx)
    const newest = newKey()
    const kept = distrust ? [] : keys.filter((_, i) => isStillUsed(keys[i + 1] ?? newest))
    await tx`
      update setting set value = ${tx.json([...kept, newest])}, updated_at = now()
      where key = ${row}`
    await tx`select pg_notify('account', '*')`
  })
}

const refusal = 'The access token is not valid'

function refuse(error: unknown): never {
  if (error instanceof errors.JWTExpired)
    throw new Unauthorized('The access token has expired', { cause: error })
  if (error instanceof errors.JOSEError) throw new Unauthorized(refusal, { cause: error })
  throw error
}

async function readRing(sql: Sql): Promise<Ring> {
  const keys = await sql.begin(makeKeys)
  const imported = await Promise.all(keys.map(async k => [k.kid, await importKey(k)] as const))
  return { newest: keys.at(-1)!.kid, keys: new Map(imported) }
}

// Oldest first; made when there are none. Two processes that start together agree on one.
async function makeKeys(tx: Transaction): Promise<StoredKey[]> {
  await tx`
    insert into setting (key, value) values (${row}, ${tx.json([newKey()])})
    on conflict (key) do nothing`
  const [found] = await tx<{ value: StoredKey[] }[]>`
    select value from setting where key = ${row} for no key update`
  return found!.value
}

function newKey(): StoredKey {
  return {
    kid: newId(),
    secret: randomBytes(32).toString('base64url'),
    createdAt: new Date().toISOString(),
  }
}

// A key signs until its successor is made, and the last token it signed lives a while longer.
function isStillUsed(successor: StoredKey): boolean {
  const since = Date.now() - Date.parse(successor.createdAt)
  return since < (longestAccessMinutes + 5) * 60_000
}

function importKey({ secret }: StoredKey): Promise<webcrypto.CryptoKey> {
  const bytes = Buffer.from(secret, 'base64url')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return webcrypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify'])
}
