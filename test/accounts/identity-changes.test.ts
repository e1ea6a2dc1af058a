// What makes processes forget the identities that they remember: a write to any column that these are made of.
import type { TransactionSql } from 'postgres'
import t from 'tap'
import { newId } from '../../lib/base/id.ts'
import { createDatabase } from '../kit/db.ts'
import { dropConstraints, writesOf } from '../list/column-writes.ts'

const tables = ['account', 'session', 'api_key', 'account_library', 'account_sharing_tag']

/** Not part of an identity, or never changed; sessions are only prolonged. */
const irrelevant = [
  ...['account.last_login_at', 'account.created_at', 'account.updated_at'],
  ...['session.created_at', 'session.used_at', 'session.expires_at', 'session.address'],
  ...['api_key.name', 'api_key.prefix', 'api_key.koreader_sha256', 'api_key.last_used_at'],
  ...['api_key.created_at', 'api_key.updated_at'],
]

t.test('a write to a column of an account, its sessions, keys and rules is notified', async t => {
  const { sql } = await createDatabase(t)
  const id = newId()
  await sql`insert into account (id, username, password_hash) values (${id}, 'reader', '-')`
  await dropConstraints(sql)
  const row = { id: newId(), account_id: id }
  await sql`insert into session ${sql({ ...row, expires_at: new Date() })}`
  await sql`
    insert into api_key ${sql({ ...row, name: 'key', prefix: 'p', secret_sha256: Buffer.from('x'), permissions: [] })}`
  await sql`insert into account_library values (${id}, ${newId()})`
  await sql`insert into account_sharing_tag ${sql({ ...row, tag_id: newId(), mode: 'deny' })}`
  let received: string[] = []
  let end = () => {}
  const { unlisten } = await sql.listen('account', payload => {
    if (payload === 'end') end()
    else received.push(payload)
  })
  t.teardown(unlisten)
  /** What is sent by a transaction; an end that follows it shows that there is no more. */
  async function notified(run: (tx: TransactionSql) => Promise<unknown>): Promise<string[]> {
    received = []
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    await sql.begin(run)
    await sql`select pg_notify('account', 'end')`
    await ended
    return received
  }
  const silent: string[] = []
  for (const table of tables)
    for (const { name, run } of await writesOf(sql, table)) {
      const before = await sql.unsafe(`select * from ${table}`)
      if ((await notified(run)).length === 0) silent.push(name)
      await notified(async tx => {
        await tx.unsafe(`delete from ${table}`)
        await tx`insert into ${tx(table)} ${tx(before as never)}`
      })
    }
  t.same(silent.toSorted(), irrelevant.toSorted())
})
