// Connection pools: external and bundled server, errors, statement timeout.
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../lib/store/config/config.ts'
import { connect, forRequests, openDatabase } from '../../../lib/store/postgres/db.ts'
import { isServer } from '../../../lib/store/postgres/embedded/server.ts'
import { createDatabase, one } from '../../kit/db.ts'
import { preparedDataDirectory } from '../../kit/files/data-directory.ts'
import { waitUntil } from '../../kit/processes.ts'

t.test('an external database is opened by its URL, including unix sockets', async t => {
  const { url } = await createDatabase(t)
  const db = await openDatabase(loadConfig({ env: { STACKROOM_DATABASE_URL: url } }))
  const row = one(await db.sql`select current_setting('application_name') as name, 2::int8 as two`)
  t.same(row, { name: 'stackroom', two: 2 })
  t.equal(db.url, url)
  t.match(db.place, `${new URL(url).pathname.slice(1)} at /`, 'names the database in messages')
  await db.close()
})

t.test('without a URL the bundled server is started, and stopped by its last client', async t => {
  const dataDir = await preparedDataDirectory(t)
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

t.test('connection errors do not contain the password', async t => {
  const open = (url: string) =>
    openDatabase(
      loadConfig({ env: { STACKROOM_DATABASE_URL: url }, flags: { 'database.wait_seconds': 0 } }),
    )
  const absent = open('postgres://u:hunter2@127.0.0.1:1/d')
  await t.rejects(absent, { name: 'Invalid', message: /^(?!.*hunter2).*ECONNREFUSED/ })
  const { url } = await createDatabase(t)
  const wrong = new URL(url)
  wrong.password = 'hunter2'
  await t.rejects(open(wrong.href), { name: 'Invalid', message: /28P01/ })
  wrong.password = new URL(url).password
  wrong.pathname = '/nowhere'
  await t.rejects(open(wrong.href), { name: 'Invalid', message: /3D000.*nowhere/ })
})

t.test('notices are not printed', async t => {
  const { url } = await createDatabase(t)
  const sql = connect(url, { max: 1 })
  await sql`create table if not exists duplicate (id int)`
  await sql`create table if not exists duplicate (id int)`
  await sql.end()
})

t.test(
  'a pool with statement timeout cancels slow statements, but not in transactions',
  async t => {
    const { sql } = await createDatabase(t)
    const own = forRequests(sql, { timeoutMs: 500 })
    t.teardown(() => own.end())
    // On a busy machine a short statement may take as long.
    const short = async () => one(await own<{ n: number }[]>`select 2::int8 as n`).n
    await waitUntil(() =>
      short().then(
        n => n === 2,
        () => false,
      ),
    )
    await t.rejects(own`select pg_sleep(600)`, { code: '57014' })
    t.equal(one(await own.begin(tx => tx<{ n: number }[]>`select 1 as n from pg_sleep(0.6)`)).n, 1)
    const [row] = await sql`select current_setting('statement_timeout') as limit`
    t.equal(row!.limit, '0')
  },
)
