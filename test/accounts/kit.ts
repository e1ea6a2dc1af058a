// Authentication fixtures: one or several processes on the database of a test.
import { join } from 'node:path'
import type { Test } from 'tap'
import {
  createAccount,
  insertAccount,
  type NewAccount,
  toAccountColumns,
} from '../../lib/accounts/account.ts'
import { generateKey } from '../../lib/accounts/api-key.ts'
import { type Auth, openAuth } from '../../lib/accounts/auth.ts'
import { accessCookieName } from '../../lib/accounts/cookie.ts'
import { hashPassword } from '../../lib/accounts/password.ts'
import { newId } from '../../lib/base/id.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { connect, type Sql } from '../../lib/store/postgres/db.ts'
import { secretsIn } from '../../lib/store/secret/secrets.ts'
import { createDatabase } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

export const password = 'correct horse battery'

// Processes of one database share the key of its secrets.
const folders = new Map<string, string>()
function dataOf(t: Test, url: string): string {
  const folder = folders.get(url) ?? temporaryFolder(t)
  folders.set(url, folder)
  return folder
}

/** The services of another process: its own connections and caches. */
export async function openProcess(t: Test, url: string, flags: Record<string, unknown> = {}) {
  const sql = connect(url, { max: 6 })
  const lines: string[] = []
  const auth = await openAuth({
    sql,
    config: loadConfig({ env: {}, flags: { data_dir: dataOf(t, url), ...flags } }),
    log: openLog({ level: 'info' }, { write: line => void lines.push(line) }),
  })
  t.teardown(async () => {
    await auth.close()
    await sql.end({ timeout: 1 })
  })
  return Object.assign(auth, { lines })
}

export async function openTestAuth(t: Test, flags: Record<string, unknown> = {}) {
  const { url } = await createDatabase(t)
  return { url, auth: await openProcess(t, url, flags) }
}

// Hashing takes longer than most tests of accounts run.
let passwordHash: Promise<string> | null = null

/** A reader with the password `password`, unless overridden. */
export async function createTestAccount(sql: Sql, { username, ...more }: NewAccount) {
  const account = { username, email: `${username}@example.org`, ...more }
  if (more.password !== undefined || more.libraryIds !== undefined)
    return await createAccount(sql, { password, ...account })
  passwordHash ??= hashPassword(password)
  const columns = { ...(await toAccountColumns(account)), password_hash: await passwordHash }
  return await sql.begin(tx => insertAccount(tx, columns))
}

/** An API key, by default with all permissions. */
export async function createTestKey(sql: Sql, accountId: string, permissions = ['SystemAdmin']) {
  const { key, prefix, digest } = generateKey()
  const id = newId()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${id}, ${accountId}, 'test', ${prefix}, ${digest}, ${permissions})`
  return { id, key }
}

/** The identity of request headers; the cookie is accepted. */
export function identify(auth: Auth, headers: Record<string, string>) {
  return auth.identities.identify({ headers, address: '192.0.2.1' }, { cookie: accessCookieName })
}
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const basic = (name: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
})

/** Secrets with a key file of their own. */
export const testSecrets = (t: Test) => secretsIn(join(temporaryFolder(t), 'stackroom.keys'))
