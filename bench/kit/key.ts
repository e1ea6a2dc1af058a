// An API key that may do everything, made in the database: of an account, or of a new administrator.
import { newKey } from '../../lib/auth/api-key.ts'
import { permissionNames } from '../../lib/auth/permission.ts'
import { newId } from '../../lib/id.ts'
import type { Sql } from '../../lib/postgres/db.ts'

export async function keyOf(sql: Sql, accountId: string): Promise<string> {
  const { key, prefix, digest } = newKey()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${newId()}, ${accountId}, 'bench', ${prefix}, ${digest}, ${[...permissionNames]})`
  return key
}

export async function administratorKey(sql: Sql): Promise<string> {
  const id = newId()
  await sql`
    insert into account (id, username, password_hash, role)
    values (${id}, ${`bench-${id}`}, '-', 'admin')`
  return await keyOf(sql, id)
}
