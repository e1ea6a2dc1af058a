// Settings of requests that must not wait for a database that does not respond.
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { createLastKnown } from '../../../lib/store/setting/last-known.ts'
import { openSettings, writeSettings } from '../../../lib/store/setting/setting.ts'
import { createReader } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'

t.test('the value that was read last stands in while the database does not respond', async t => {
  const { sql, url } = await createDatabase(t)
  const other = connect(url, { max: 2, name: 'other' })
  t.teardown(() => other.end({ timeout: 1 }))
  const { id } = await createReader(sql)
  const author = { accountId: id, username: 'ana', reason: null, address: null }
  const write = (value: string) => writeSettings(sql, [{ key: 'application.name', value }], author)
  await write('Shelf')
  const read = createLastKnown(openSettings(other), ['application.name'])
  t.equal(await read('application.name'), 'Shelf')
  // All reads of the other connections wait for it, and their cache is emptied by the change before.
  await write('Shelves')
  await sql.begin(async tx => {
    await tx`lock table setting in access exclusive mode`
    t.match(await read('application.name'), /^Shel(f|ves)$/)
  })
})
