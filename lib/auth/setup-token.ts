// The one-time token that proves, until there is an administrator, that a client may make one.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Sql, Transaction } from '../postgres/db.ts'

/** A new token, valid in place of any earlier one; null once an administrator exists. Only its hash is kept. */
export async function newSetupToken(sql: Sql): Promise<string | null> {
  const [admin] = await sql`select 1 from account where role = 'admin' limit 1`
  if (admin) return null
  const token = randomBytes(24).toString('base64url')
  await sql`
    insert into setting (key, value)
    values ('setup_token', ${sql.json({ sha256: digestOf(token).toString('hex') })})
    on conflict (key) do update set value = excluded.value, updated_at = now()`
  return token
}

/** Whether this is the token that was printed last. */
export async function isSetupToken(sql: Sql, token: string): Promise<boolean> {
  const [row] = await sql<{ sha256: string }[]>`
    select value ->> 'sha256' as sha256 from setting where key = 'setup_token'`
  return row !== undefined && timingSafeEqual(Buffer.from(row.sha256, 'hex'), digestOf(token))
}

/** Makes the token useless. */
export async function withdrawSetupToken(tx: Transaction): Promise<void> {
  await tx`delete from setting where key = 'setup_token'`
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
