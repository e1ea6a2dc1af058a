// Runtime settings changed by other processes.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { openSettings, writeSettings } from '../../../lib/store/setting/setting.ts'
import { createReader } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'
import { waitUntil } from '../../kit/processes.ts'

t.test('a listener is called for each change and after a lost connection', async t => {
  const { sql, url } = await createDatabase(t)
  const other = connect(url, { max: 2, name: 'other' })
  t.teardown(() => other.end({ timeout: 1 }))
  const { id } = await createReader(sql)
  const author = { accountId: id, username: 'ana', reason: null, address: null }
  const settings = openSettings(other)
  const received: number[] = []
  const until = async (count: number) => {
    await waitUntil(() => received.length >= count)
    t.equal(received.length, count)
  }
  const unsubscribe = await settings.onChange(['watch.poll_seconds'], async () => {
    // The loss of the other connections may not have been noticed yet.
    const read = (): Promise<number> => settings.cached('watch.poll_seconds').catch(read)
    received.push(await read())
  })
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 5 }], author)
  await until(1)
  await writeSettings(sql, [{ key: 'tasks.retention_days', value: 5 }], author)
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 6 }], author)
  await until(2)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'other' and datname = current_database()`
  await until(3)
  t.same(received, [5, 6, 6])
  unsubscribe()
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 7 }], author)
  await sleep(200)
  t.equal(received.length, 3)
  t.equal(await settings.cached('watch.poll_seconds'), 7)
})
