// All secrets stored in the database: checks whether the key file fits, and encrypts them with its first key.
import { Conflict } from '../../base/errors.ts'
import type { Queryable, Sql, Transaction } from '../postgres/db.ts'
import { newSecretKey, readKeys, writeKeys } from './key-file.ts'
import { credentialPlace, isSealed, keyIdOf, type Secrets, signingKeyPlace } from './secrets.ts'

// A known text: the key that opens it is the one that the database was written with.
const checkKey = 'secrets_check'
const checkText = 'stackroom'

/** What the keys in the file cannot read. */
export type Unreadable = {
  /** Display names of sources with unreadable credentials. */
  sources: string[]
  /** Whether no key for signing access tokens is readable: then existing tokens are no longer valid. */
  signingKeys: boolean
}

/** Held while a secret is encrypted and stored, so that no key rotation misses it. */
export async function lockSecrets(tx: Queryable): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(hashtext('stackroom.secrets'))`
}

const lockOut = (tx: Queryable) => tx`select pg_advisory_xact_lock(hashtext('stackroom.secrets'))`

/**
 * Checks whether the database was written with a key in the file: null if so, otherwise what cannot be read.
 * A database without unreadable secrets adopts the file's key. Throws Invalid.
 */
export async function checkSecrets(sql: Sql, secrets: Secrets): Promise<Unreadable | null> {
  // Checked before anything is written.
  secrets.keyId()
  return await sql.begin(async tx => {
    await lockOut(tx)
    const check = await storedCheck(tx)
    if (check !== null && secrets.open(check, checkKey) === checkText) return null
    const unreadable =
      check === null ? await sealAll(tx, secrets) : await findUnreadable(tx, secrets)
    if (unreadable.sources.length === 0) await storeCheck(tx, secrets)
    return check !== null && isAnyLost(unreadable) ? unreadable : null
  })
}

/** What is currently unreadable; null if nothing is. */
export async function unreadableSecrets(sql: Sql, secrets: Secrets): Promise<Unreadable | null> {
  const unreadable = await findUnreadable(sql, secrets)
  return isAnyLost(unreadable) ? unreadable : null
}

/** Display names of the sources with credentials. */
export async function sourcesWithSecrets(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select display_name as name from source where credentials <> '{}' order by 1`
  return rows.map(({ name }) => name)
}

const isAnyLost = ({ sources, signingKeys }: Unreadable) => sources.length > 0 || signingKeys

/**
 * Reencrypts everything readable with a new key and removes the other keys from the file. The file holds both
 * until the commit, so the rotation can be repeated after an interruption at any point. Returns what cannot
 * be read.
 */
export async function rotateSecrets(sql: Sql, secrets: Secrets): Promise<Unreadable> {
  const { file } = secrets
  const unreadable = await sql.begin(async tx => {
    await lockOut(tx)
    const check = await storedCheck(tx)
    if (check !== null && secrets.open(check, checkKey) !== checkText)
      throw new Conflict(
        `The secrets in the database were encrypted with a key that is not in ${file}`,
      )
    // After an interruption the first key is in the file, but not in use yet.
    if (check === null || keyIdOf(check) === secrets.keyId())
      writeKeys(file, [newSecretKey(), ...readKeys(file)])
    const left = await sealAll(tx, secrets)
    await storeCheck(tx, secrets)
    return left
  })
  await sql.begin(async tx => {
    // Another rotation may have started in the meantime, and would need this one's key.
    await lockOut(tx)
    const check = await storedCheck(tx)
    const [first] = readKeys(file)
    if (check !== null && keyIdOf(check) === first!.id) writeKeys(file, [first!])
  })
  return unreadable
}

type StoredKey = { kid: string; secret: string; createdAt: string }
type StoredSource = { id: string; displayName: string; credentials: Record<string, string> }

async function storedCheck(tx: Queryable): Promise<string | null> {
  const [row] = await tx<{ value: string }[]>`
    select value #>> '{}' as value from setting where key = ${checkKey}`
  return row?.value ?? null
}

async function storeCheck(tx: Transaction, secrets: Secrets): Promise<void> {
  const value = tx.json(secrets.seal(checkText, checkKey))
  await tx`
    insert into setting (key, value) values (${checkKey}, ${value})
    on conflict (key) do update set value = excluded.value, updated_at = now()`
}

async function load(tx: Queryable) {
  const [row] = await tx<{ value: StoredKey[] }[]>`
    select value from setting where key = 'jwt_keys' for no key update`
  const sources = await tx<StoredSource[]>`
    select id, display_name as "displayName", credentials from source
    where credentials <> '{}' order by id for no key update`
  return { keys: row?.value ?? [], sources }
}

const isReadable = (secrets: Secrets, text: string, place: string) =>
  secrets.open(text, place) !== null

async function findUnreadable(tx: Queryable, secrets: Secrets): Promise<Unreadable> {
  const { keys, sources } = await load(tx)
  return {
    sources: sources
      .filter(({ id, credentials }) =>
        Object.entries(credentials).some(
          ([name, text]) => !isReadable(secrets, text, credentialPlace(id, name)),
        ),
      )
      .map(({ displayName }) => displayName),
    signingKeys:
      keys.length > 0 &&
      !keys.some(({ kid, secret }) => isReadable(secrets, secret, signingKeyPlace(kid))),
  }
}

/**
 * Encrypts with the file's first key, including what is stored as plain text. Leaves unreadable secrets as
 * they are.
 */
async function sealAll(tx: Transaction, secrets: Secrets): Promise<Unreadable> {
  const again = (text: string, place: string) => {
    const plain = isSealed(text) ? secrets.open(text, place) : text
    return plain === null ? text : secrets.seal(plain, place)
  }
  const { keys, sources } = await load(tx)
  const sealedKeys = keys.map(key => ({
    ...key,
    secret: again(key.secret, signingKeyPlace(key.kid)),
  }))
  await tx`update setting set value = ${tx.json(sealedKeys)} where key = 'jwt_keys'`
  for (const { id, credentials } of sources) {
    const sealed = Object.fromEntries(
      Object.entries(credentials).map(([name, text]) => [
        name,
        again(text, credentialPlace(id, name)),
      ]),
    )
    await tx`update source set credentials = ${tx.json(sealed)} where id = ${id}`
  }
  return await findUnreadable(tx, secrets)
}
