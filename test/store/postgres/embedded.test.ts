// Bundled PostgreSQL: start, adoption, shutdown, recovery, host lock, refusals.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Conflict, Invalid } from '../../../lib/base/errors.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { isAlive, isServer, readPostmaster } from '../../../lib/store/postgres/embedded/server.ts'
import { newDataDirectory, preparedDataDirectory } from '../../kit/files/data-directory.ts'

// Each has a server of its own, and waits most of the time.
t.jobs = 3

const program = new URL('../../../lib/store/postgres/embedded/embedded.ts', import.meta.url).href

/** Another process that starts or adopts the server and uses it until `stop`. */
async function otherProcess(dataDir: string) {
  const code = `
    import { startPostgres } from ${JSON.stringify(program)}
    const server = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} })
    process.stdout.write(JSON.stringify({ adopted: server.adopted, pid: server.pid }))
    process.stdin.resume().on('end', () => server.stop())`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [text] = await once(child.stdout, 'data')
  const started: { adopted: boolean; pid: number } = JSON.parse(String(text))
  const exit = once(child, 'exit')
  const stop = () => {
    child.stdin.end()
    return exit
  }
  return { ...started, child, exit, stop }
}

async function queryServer(
  url: string,
): Promise<{ version: string; listening: string; locale: string }> {
  const sql = connect(url, { max: 1 })
  try {
    const [row] = await sql<{ version: string; listening: string; locale: string }[]>`
      select current_setting('server_version') as version,
        current_setting('listen_addresses') as listening,
        (select datlocale from pg_database where datname = current_database()) as locale`
    return row!
  } finally {
    await sql.end()
  }
}

t.test(
  'the first start creates the cluster, stop ends the server, the second start has the data',
  async t => {
    const dataDir = join(newDataDirectory(t), 'not', 'there yet')
    const first = await startPostgres({ dataDir })
    t.equal(first.adopted, false)
    t.match(await queryServer(first.url), { version: /^18\./, listening: '', locale: 'C.UTF-8' })
    t.equal(
      statSync(first.options.host).mode & 0o777,
      0o700,
      'other users have no access to the socket',
    )
    t.equal(statSync(join(dataDir, 'postgres', 'stackroom.password')).mode & 0o777, 0o600)
    t.equal(statSync(dataDir).mode & 0o777, 0o700)
    t.match(JSON.parse(readFileSync(join(dataDir, 'stackroom.lock'), 'utf8')), { pid: process.pid })
    const sql = connect(first.url, { max: 1 })
    await sql`create table book (title text)`
    await sql`insert into book values ('Akira')`
    await sql.end()
    await first.stop()
    t.notOk(isServer(first.pid, join(dataDir, 'postgres')), 'the process has ended')
    t.notOk(existsSync(first.options.host), 'and its socket is removed')
    t.notOk(existsSync(join(dataDir, 'stackroom.lock')))

    const second = await startPostgres({ dataDir })
    const again = connect(second.url, { max: 1 })
    t.same([...(await again`select title from book`)], [{ title: 'Akira' }])
    await again.end()
    await second.stop()
  },
)

t.test('a wrong password is rejected', async t => {
  const server = await startPostgres({ dataDir: await preparedDataDirectory(t) })
  await t.rejects(queryServer(server.url.replace(server.options.password, 'guess')), {
    code: '28P01',
  })
  await server.stop()
})

t.test('a password file of another database is named', async t => {
  const dataDir = await preparedDataDirectory(t)
  const server = await startPostgres({ dataDir })
  await server.stop()
  const file = join(dataDir, 'postgres', 'stackroom.password')
  const password = readFileSync(file)
  writeFileSync(file, 'guess')
  await t.rejects(startPostgres({ dataDir }), {
    name: 'Invalid',
    message: /does not accept the password in .+stackroom\.password; restore the file/,
  })
  writeFileSync(file, password)
  const again = await startPostgres({ dataDir })
  await again.stop()
})

t.test('a second process adopts the server, the last one stops it', async t => {
  const dataDir = await preparedDataDirectory(t)
  const first = await startPostgres({ dataDir })
  const second = await otherProcess(dataDir)
  t.same([second.adopted, second.pid], [true, first.pid])
  const third = await otherProcess(dataDir)
  await third.stop()
  t.ok(isAlive(first.pid), 'it is still running')
  second.child.kill('SIGKILL')
  await second.exit
  await first.stop()
  t.notOk(isServer(first.pid, join(dataDir, 'postgres')))
})

t.test('the process that started the server may end first', async t => {
  const dataDir = await preparedDataDirectory(t)
  const starter = await otherProcess(dataDir)
  const second = await startPostgres({ dataDir })
  t.same([starter.adopted, second.adopted], [false, true])
  await starter.stop()
  t.match(await queryServer(second.url), { version: /^18/ })
  await second.stop()
  t.notOk(isServer(second.pid, join(dataDir, 'postgres')))
})

t.test('after kill -9 of the process the next start adopts the server', async t => {
  const dataDir = await preparedDataDirectory(t)
  const killed = await otherProcess(dataDir)
  killed.child.kill('SIGKILL')
  await killed.exit
  t.ok(isServer(killed.pid, join(dataDir, 'postgres')), 'the server is still running')
  const next = await startPostgres({ dataDir })
  t.same([next.adopted, next.pid], [true, killed.pid])
  await next.stop()
  t.notOk(isServer(killed.pid, join(dataDir, 'postgres')))
})

t.test('after kill -9 of the server the next start recovers', async t => {
  const dataDir = await preparedDataDirectory(t)
  const first = await startPostgres({ dataDir })
  await first.leave()
  const settingsFile = () => statSync(join(dataDir, 'postgres', 'stackroom.conf')).ino
  const before = settingsFile()
  process.kill(first.pid, 'SIGKILL')
  const next = await startPostgres({ dataDir })
  t.equal(next.adopted, false)
  t.equal(settingsFile(), before, 'a disk that is full needs no space for equal settings')
  t.match(await queryServer(next.url), { version: /^18/ })
  await next.stop()
})

t.test(
  'a stale postmaster.pid with the pid of an unrelated process does not prevent a start',
  async t => {
    const dataDir = await preparedDataDirectory(t)
    const first = await startPostgres({ dataDir })
    const file = join(dataDir, 'postgres', 'postmaster.pid')
    const lines = readFileSync(file, 'utf8').split('\n')
    await first.stop()
    writeFileSync(file, [String(process.pid), ...lines.slice(1)].join('\n'))
    const next = await startPostgres({ dataDir })
    t.equal(next.adopted, false)
    await next.stop()
  },
)

t.test('a server without its socket is restarted', async t => {
  const dataDir = await preparedDataDirectory(t)
  const first = await startPostgres({ dataDir })
  await first.leave()
  rmSync(first.options.host, { recursive: true })
  const next = await startPostgres({ dataDir })
  t.not(next.pid, first.pid)
  t.notOk(isServer(first.pid, join(dataDir, 'postgres')))
  await next.stop()
})

t.test('of concurrent processes one starts the server and the others adopt it', async t => {
  const dataDir = newDataDirectory(t)
  const all = await Promise.all([0, 1, 2].map(() => otherProcess(dataDir)))
  t.same(all.map(process => process.adopted).sort(), [false, true, true])
  t.equal(new Set(all.map(process => process.pid)).size, 1)
  for (const { child } of all) child.kill('SIGKILL')
  await (await startPostgres({ dataDir })).stop()
})

t.test('a live lock of another host is refused, one without heartbeat is ignored', async t => {
  const dataDir = await preparedDataDirectory(t)
  const file = join(dataDir, 'stackroom.lock')
  writeFileSync(file, JSON.stringify({ host: 'nas', pid: 7, version: '0.0.9' }))
  const heartbeat = setInterval(() => utimesSync(file, new Date(), new Date()), 200)
  const error = await startPostgres({ dataDir }).catch((error: unknown) => error)
  t.type(error, Conflict)
  t.match(error, { message: /0\.0\.9 on host "nas" \(process 7\)/ })
  clearInterval(heartbeat)
  utimesSync(file, 0, 0)
  const server = await startPostgres({ dataDir })
  await server.stop()
})

t.test('a cluster of another major version is refused with advice', async t => {
  const dataDir = t.testdir({ postgres: { PG_VERSION: '17\n' } })
  await t.rejects(startPostgres({ dataDir }), Invalid)
  await t.rejects(startPostgres({ dataDir }), { message: /created by PostgreSQL 17.*contains 18/ })
})

t.test('a data directory that is a file is refused', async t => {
  const dataDir = join(t.testdir({ data: 'text' }), 'data')
  await t.rejects(startPostgres({ dataDir }), { message: /is not writable/ })
})

t.test('the error of a failed start contains the server log', async t => {
  const dataDir = await preparedDataDirectory(t)
  await (await startPostgres({ dataDir })).stop()
  writeFileSync(join(dataDir, 'postgres', 'postgresql.auto.conf'), "shared_buffers = 'many'\n")
  await t.rejects(startPostgres({ dataDir }), { name: 'Invalid', message: /shared_buffers/ })
  t.equal(readPostmaster(join(dataDir, 'postgres')), null)
  writeFileSync(join(dataDir, 'postgres', 'postgresql.auto.conf'), '')
  await (await startPostgres({ dataDir })).stop()
})

t.test('the error of a start on a data directory that was replaced while a server ran', async t => {
  const dataDir = await preparedDataDirectory(t)
  const moved = `${dataDir} moved`
  const server = await startPostgres({ dataDir })
  renameSync(dataDir, moved)
  try {
    await t.rejects(
      startPostgres({ dataDir }),
      /replaced while a server was using it.*stop that server/,
    )
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
    renameSync(moved, dataDir)
    await server.stop()
  }
})
