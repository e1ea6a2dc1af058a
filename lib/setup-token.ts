// The one-time token that proves, until there is an administrator, that a client may make one.
import { createHash, randomBytes } from 'node:crypto'
import type { Sql } from './db.ts'

/** A new token, valid in place of any earlier one; null once an administrator exists. Only its hash is kept. */
export async function newSetupToken(sql: Sql): Promise<string | null> {
  const [admin] = await sql`select 1 from account where role = 'admin' limit 1`
  if (admin) return null
  const token = randomBytes(24).toString('base64url')
  const hash = createHash('sha256').update(token).digest('hex')
  await sql`
    insert into setting (key, value) values ('setup_token', ${sql.json({ sha256: hash })})
    on conflict (key) do update set value = excluded.value, updated_at = now()`
  return token
}
