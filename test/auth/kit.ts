// Authentication on a database of the test, as one process or as several.
import type { Test } from 'tap'
import { createAccount, type NewAccount } from '../../lib/auth/account.ts'
import { newKey } from '../../lib/auth/api-key.ts'
import { type Auth, openAuth } from '../../lib/auth/auth.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { newId } from '../../lib/id.ts'
import { openLog } from '../../lib/log.ts'
import { connect, type Sql } from '../../lib/postgres/db.ts'
import { database } from '../kit/db.ts'

export const password = 'correct horse battery'

/** What another process would open: connections and memory of its own. */
export async function openProcess(t: Test, url: string, flags: Record<string, unknown> = {}) {
  const sql = connect(url, { max: 6 })
  const lines: string[] = []
  const auth = await openAuth({
    sql,
    config: loadConfig({ env: {}, flags }),
    log: openLog({ level: 'info' }, { write: line => void lines.push(line) }),
  })
  t.teardown(async () => {
    await auth.close()
    await sql.end({ timeout: 1 })
  })
  return Object.assign(auth, { lines })
}

export async function open(t: Test, flags: Record<string, unknown> = {}) {
  const { url } = await database(t)
  return { url, auth: await openProcess(t, url, flags) }
}

/** A reader unless something else is said; the password is `password`. */
export function person(sql: Sql, said: Partial<NewAccount> & { username: string }) {
  return createAccount(sql, { email: `${said.username}@example.org`, password, ...said })
}

/** A key with all permissions, or those named. */
export async function keyFor(sql: Sql, accountId: string, permissions = ['SystemAdmin']) {
  const { key, prefix, digest } = newKey()
  const id = newId()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${id}, ${accountId}, 'test', ${prefix}, ${digest}, ${permissions})`
  return { id, key }
}

/** Who these headers are, with the cookie counting. */
export function who(auth: Auth, headers: Record<string, string>) {
  return auth.identities.identify({ headers, address: '192.0.2.1' }, { cookieAllowed: true })
}
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const basic = (name: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
})
