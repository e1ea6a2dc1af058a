// Settings that other processes change.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect } from '../../lib/postgres/db.ts'
import { onSetting, readSetting, writeSettings } from '../../lib/setting/setting.ts'
import { database } from '../kit/db.ts'
import { reader } from '../kit/library.ts'

t.test('who follows a setting hears of each change, and of a lost connection', async t => {
  const { sql, url } = await database(t)
  const other = connect(url, { max: 2, name: 'other' })
  t.teardown(() => other.end({ timeout: 1 }))
  const { id } = await reader(sql)
  const by = { accountId: id, username: 'ana', reason: null, address: null }
  const heard: number[] = []
  const until = async (count: number) => {
    for (let left = 2000; left > 0 && heard.length < count; left--) await sleep(10)
    t.equal(heard.length, count)
  }
  const end = await onSetting(other, ['watch.poll_seconds'], async () => {
    heard.push(await readSetting(other, 'watch.poll_seconds'))
  })
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 5 }], by)
  await until(1)
  await writeSettings(sql, [{ key: 'tasks.retention_days', value: 5 }], by)
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 6 }], by)
  await until(2)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'other' and datname = current_database()`
  await until(3)
  t.same(heard, [5, 6, 6])
  end()
  await writeSettings(sql, [{ key: 'watch.poll_seconds', value: 7 }], by)
  await sleep(200)
  t.equal(heard.length, 3)
  t.equal(await readSetting(other, 'watch.poll_seconds'), 7)
})
