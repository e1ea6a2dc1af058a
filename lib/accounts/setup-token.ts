// Setup token: one-time secret that authorizes the creation of the first administrator.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { hashSecret } from './secret.ts'

/** Creates a token that replaces any earlier one; null once an administrator exists. Only its hash is stored. */
export async function createSetupToken(sql: Sql): Promise<string | null> {
  const [admin] = await sql`select 1 from account where role = 'admin' limit 1`
  if (admin) return null
  const token = randomBytes(24).toString('base64url')
  await sql`
    insert into setting (key, value)
    values ('setup_token', ${sql.json({ sha256: hashSecret(token).toString('hex') })})
    on conflict (key) do update set value = excluded.value, updated_at = now()`
  return token
}

/** Whether this is the most recent token. */
export async function isSetupToken(sql: Sql, token: string): Promise<boolean> {
  const [row] = await sql<{ sha256: string }[]>`
    select value ->> 'sha256' as sha256 from setting where key = 'setup_token'`
  return row !== undefined && timingSafeEqual(Buffer.from(row.sha256, 'hex'), hashSecret(token))
}

export async function deleteSetupToken(tx: Transaction): Promise<void> {
  await tx`delete from setting where key = 'setup_token'`
}
