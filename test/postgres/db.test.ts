import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../lib/config/config.ts'
import { bounded, connect, maybe, one, openDatabase } from '../../lib/postgres/db.ts'
import { isServer } from '../../lib/postgres/embedded/server.ts'
import { database } from '../kit/db.ts'

t.test('an external database is used by its URL, sockets included', async t => {
  const { url } = await database(t)
  const db = await openDatabase(loadConfig({ env: { STACKROOM_DATABASE_URL: url } }))
  const row = one(await db.sql`select current_setting('application_name') as name, 2::int8 as two`)
  t.same(row, { name: 'stackroom', two: 2 })
  t.equal(db.url, url)
  await db.close()
})

t.test('without a URL the embedded server starts and ends with the last user', async t => {
  const dataDir = t.testdir()
  const config = loadConfig({ env: {}, flags: { data_dir: dataDir } })
  const db = await openDatabase(config)
  const { pid } = one(
    await db.sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid`,
  )
  t.ok(isServer(pid, join(dataDir, 'postgres')))
  await db.close()
  t.notOk(isServer(pid, join(dataDir, 'postgres')))
})

t.test('a database that cannot be reached is named without its password', async t => {
  const open = (url: string) =>
    openDatabase(loadConfig({ env: { STACKROOM_DATABASE_URL: url } }), { patienceMs: 50 })
  const absent = open('postgres://u:hunter2@127.0.0.1:1/d')
  await t.rejects(absent, { name: 'Invalid', message: /^(?!.*hunter2).*ECONNREFUSED/ })
  const { url } = await database(t)
  const wrong = new URL(url)
  wrong.password = 'hunter2'
  await t.rejects(open(wrong.href), { name: 'Invalid', message: /28P01/ })
  wrong.password = new URL(url).password
  wrong.pathname = '/nowhere'
  await t.rejects(open(wrong.href), { name: 'Invalid', message: /3D000.*nowhere/ })
})

t.test('notices are not printed', async t => {
  const { url } = await database(t)
  const sql = connect(url, { max: 1 })
  await sql`create table if not exists twice (id int)`
  await sql`create table if not exists twice (id int)`
  await sql.end()
})

t.test('one row is a promise, maybe is a question', async t => {
  t.equal(one([1, 2]), 1)
  t.throws(() => one([]))
  t.equal(maybe([1]), 1)
  t.equal(maybe([]), null)
})

t.test('a bounded pool breaks off what takes long, and leaves transactions alone', async t => {
  const { sql } = await database(t)
  const own = bounded(sql, { forMs: 100 })
  t.teardown(() => own.end())
  t.equal(one(await own<{ n: number }[]>`select 2::int8 as n`).n, 2)
  await t.rejects(own`select pg_sleep(5)`, { code: '57014' })
  t.equal(one(await own.begin(tx => tx<{ n: number }[]>`select 1 as n from pg_sleep(0.3)`)).n, 1)
  const [row] = await sql`select current_setting('statement_timeout') as limit`
  t.equal(row!.limit, '0')
})
