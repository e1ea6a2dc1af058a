// Faults of the driver that lib/store/postgres/driver-fixes.ts fixes, each by its effect on callers.
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { missingFixes } from '../../../lib/store/postgres/driver.ts'
import { type Host, socketPath, targetOf } from '../../../lib/store/postgres/sockets.ts'
import { parseDatabaseUrl } from '../../../lib/store/postgres/url.ts'
import { createDatabase } from '../../kit/db.ts'

const lost = { code: /CONNECTION_CLOSED|57P01|ECONNRESET|EPIPE/ }
const inTime = <T>(work: Promise<T>) =>
  Promise.race([work, sleep(30_000, null, { ref: false }).then(() => Promise.reject('hangs'))])

t.test('the installed driver has all fixes', async t => t.same([...missingFixes], []))

t.test('a transaction that lost its connection does not run statements on the next', async t => {
  const { sql: other, url } = await createDatabase(t)
  await other`create table note (text text)`
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  const hasNext = Promise.withResolvers<void>()
  const first = sql.begin(async tx => {
    const [me] = await tx`select pg_backend_pid() as pid`
    await other`select pg_terminate_backend(${me!.pid}, 60000)`
    await hasNext.promise
    await tx`insert into note values ('lost')`
  })
  await t.rejects(first, lost)
  const second = sql.begin(async tx => {
    await tx`insert into note values ('stored')`
    hasNext.resolve()
    await sleep(50)
  })
  await inTime(second)
  t.same([...(await inTime(sql`select text from note`))], [{ text: 'stored' }])
})

t.test('a slow reader of COPY gets all of it, and the connection goes on', async t => {
  const { url } = await createDatabase(t)
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  // The rows end at many places of the reader's buffer and of the connection's reads.
  for (let rows = 40; rows < 120; rows++) {
    const stream = await sql`
      copy (select repeat('x', 999) from generate_series(1, ${sql.unsafe(String(rows))})) to stdout`.readable()
    let bytes = 0
    for await (const chunk of stream) {
      bytes += chunk.length
      await sleep(0)
    }
    t.equal(bytes, rows * 1000)
    await inTime(sql`select 1`)
  }
})

t.test('statements of a transaction that wait when its connection is lost fail', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  const outcomes: unknown[] = []
  const work = sql.begin(async tx => {
    const [me] = await tx`select pg_backend_pid() as pid`
    const failed = (error: { code: string }) => outcomes.push(error.code)
    const running = Array.from({ length: 5 }, (_, n) => tx`select pg_sleep(60), ${n}::int`)
    const ended = Promise.all(running.map(statement => statement.catch(failed)))
    await other`select pg_terminate_backend(${me!.pid}, 60000)`
    await ended
  })
  await t.rejects(inTime(work), lost)
  await inTime(
    (async () => {
      while (outcomes.length < 5) await sleep(10)
    })(),
  )
  t.equal(outcomes.length, 5)
})

t.test('a lost statement ends with its connection, which is opened again', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 1, name: 'victim' })
  const waiting = sql`select pg_sleep(60)`.execute()
  waiting.catch(() => {})
  await inTime(
    (async () => {
      const end = () => other`
        select pg_terminate_backend(pid, 60000) from pg_stat_activity
        where application_name = 'victim' and query like '%sleep%'`
      while ((await end()).length === 0);
    })(),
  )
  await t.rejects(inTime(waiting), lost)
  t.same([...(await inTime(sql`select 2 as n`))], [{ n: 2 }])
  const last = sql`select pg_sleep(60)`.execute()
  last.catch(() => {})
  await sleep(50)
  await other`select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'victim'`
  await t.rejects(inTime(last), lost)
  await inTime(sql.end())
})

t.test('a server that closes connections at once fails statements', async t => {
  const url = await serve(t, socket => socket.end())
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end({ timeout: 0 }))
  for (let i = 0; i < 3; i++) await t.rejects(inTime(sql`select 1`), lost)
})

t.test('a result has no holes after a statement that failed in the middle of its rows', async t => {
  const { url } = await createDatabase(t)
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end())
  const failing = sql`select 1 / (4 - n) from generate_series(1, 10) n`.execute()
  const next = sql`select n from generate_series(1, 3) n`.execute()
  const [rows] = await Promise.all([next, t.rejects(failing, { code: '22012' })])
  t.same([...rows], [{ n: 1 }, { n: 2 }, { n: 3 }])
})

t.test('a loss while the types of arrays are read fails the statement alone', async t => {
  const { url } = await createDatabase(t)
  const [host] = targetOf(parseDatabaseUrl(url).options).hosts as [Host]
  let losses = 0
  const proxy = await serve(t, socket => {
    const server = connectTcp(
      host.name.startsWith('/')
        ? { path: socketPath(host.name, host.port) }
        : { host: host.name, port: host.port },
    )
    server.on('error', () => {}).on('close', () => socket.destroy())
    socket.on('close', () => server.destroy())
    server.pipe(socket)
    socket.on('data', chunk => {
      if (chunk.includes('typarray') && losses === 0) {
        losses += 1
        socket.end()
      } else server.write(chunk)
    })
  })
  const { username, password, pathname } = new URL(url)
  const sql = connect(proxy.replace('//', `//${username}:${password}@`).concat(pathname), {
    max: 1,
  })
  t.teardown(() => sql.end({ timeout: 1 }))
  await t.rejects(inTime(sql`select 1`), lost)
  t.equal(losses, 1)
  t.same([...(await inTime(sql`select 2 as n`))], [{ n: 2 }])
})

t.test('a session of another kind than the URL states is refused, until it is one', async t => {
  const { sql: other, url } = await createDatabase(t)
  const name = other.options.database
  const target = new URL(url)
  target.searchParams.set('target_session_attrs', 'read-write')
  const sql = connect(target.href, { max: 1 })
  t.teardown(() => sql.end({ timeout: 0 }))
  await other`alter database ${other(name)} set default_transaction_read_only = on`
  await t.rejects(inTime(sql`select 1`), { code: 'TARGET_SESSION_ATTRS' })
  const writing = await other.reserve()
  await writing`set default_transaction_read_only = off`
  await writing`alter database ${other(name)} reset default_transaction_read_only`
  writing.release()
  t.same([...(await inTime(sql`select 2 as n`))], [{ n: 2 }])
})

/** The URL of a server with this handler of connections. */
async function serve(t: Test, onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  return `postgres://127.0.0.1:${port}`
}
