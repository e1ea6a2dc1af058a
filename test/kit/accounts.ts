// Accounts, API keys, sharing tags and progress written straight into the database.
import { generateKey } from '../../lib/accounts/api-key.ts'
import { permissionsOfRole } from '../../lib/accounts/permission.ts'
import { newId } from '../../lib/base/id.ts'
import { refreshAccountReading } from '../../lib/catalog/derived/series-reading.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'

export type Role = 'reader' | 'maintainer' | 'admin'
let counter = 0

type AccountOptions = { username?: string; permissions?: readonly string[] }

/** Inserts an account of a role and an API key that has all permissions of the account. */
export async function insertAccount(
  sql: Sql,
  role: Role,
  { username, permissions = [] }: AccountOptions = {},
) {
  const id = newId()
  const name = username ?? `${role}-${(counter += 1)}`
  const email = `${name}@example.org`
  await sql`
    insert into account (id, username, email, password_hash, role, permissions)
    values (${id}, ${name}, ${email}, '-', ${role}, ${[...permissions]})`
  const { key } = await insertApiKey(sql, id)
  return { id, key, username: name, email }
}

/** Inserts an API key of an account, with all permissions by default. */
export async function insertApiKey(
  sql: Sql,
  accountId: string,
  permissions: readonly string[] = permissionsOfRole.admin,
) {
  const { key, prefix, digest } = generateKey()
  const id = newId()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${id}, ${accountId}, 'test', ${prefix}, ${digest}, ${[...permissions]})`
  return { id, key }
}

/** Request headers of a new administrator. */
export async function adminHeaders(sql: Sql): Promise<{ 'x-api-key': string }> {
  return { 'x-api-key': (await insertAccount(sql, 'admin')).key }
}

/** Hides series from an account with a sharing tag. The servers of `sql` know it afterwards. */
export async function hideSeries(sql: Sql, accountId: string, seriesIds: string[]): Promise<void> {
  const tag = newId()
  await sql`insert into sharing_tag (id, name) values (${tag}, ${`hidden ${tag}`})`
  await sql`
    insert into series_sharing_tag (series_id, tag_id)
    select id, ${tag} from unnest(${seriesIds}::uuid[]) as id`
  await sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${accountId}, ${tag}, 'deny')`
  await receiveNotifications(sql)
}

/**
 * Waits until the servers of `sql` have received all notifications of what is committed, such as those that
 * invalidate cached identities: subscriptions of one `Sql` share a connection, on which messages keep their order.
 */
export async function receiveNotifications(sql: Sql): Promise<void> {
  const marker = newId()
  const { promise, resolve } = Promise.withResolvers<void>()
  const subscription = await sql.listen('test_marker', value => value === marker && resolve())
  await sql.notify('test_marker', marker)
  await promise
  await subscription.unlisten()
}

/** An account that reads: writes and returns its progress. */
export async function createReader(sql: Sql) {
  const { id } = await insertAccount(sql, 'reader')
  return {
    id,
    async read(bookId: string, page: number) {
      await sql`
        insert into progress (account_id, book_id, current_page) values (${id}, ${bookId}, ${page})`
      const [book] = await sql<{ series: string }[]>`
        select series_id as series from book where id = ${bookId}`
      await refreshAccountReading(sql, id, [book!.series])
    },
    /** Current page by book id. */
    async pages() {
      const rows = await sql<{ book_id: string; current_page: number }[]>`
        select book_id, current_page from progress where account_id = ${id} order by book_id`
      return Object.fromEntries(rows.map(row => [row.book_id, row.current_page]))
    },
  }
}
