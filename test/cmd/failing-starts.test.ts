// Starts that fail: exit code 2 within five seconds, one sentence that names the setting or the file; and signals meanwhile.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { report } from '../../cmd/exit.ts'
import { createEmptyDatabase, projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { waitUntil } from '../kit/processes.ts'

const launcher = join(projectRoot, 'cmd', 'stackroom.mjs')

type Start = { args: string[]; env?: Record<string, string>; onOutput?: (text: string) => void }

/** `seconds` from the last line of the log, which is the final answer, or from the start. */
function start(t: Test, { args, env = {}, onOutput = () => {} }: Start) {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      STACKROOM_WEB__ENABLED: 'false',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let answeredAt = performance.now()
  let stderr = ''
  child.stderr.on('data', chunk => {
    if (!stderr.includes('stackroom: ')) answeredAt = performance.now()
    stderr += chunk
    onOutput(stderr)
  })
  child.stdout.resume()
  const ended = once(child, 'close').then(([code, signal]) => {
    const ms = performance.now() - answeredAt
    const message = stderr.split('\n').filter(line => !line.startsWith('{'))
    return { code, signal, ms, message }
  })
  return { child, ended }
}

/** A role that owns an empty database. */
async function role(t: Test, options: string) {
  const { sql, url } = await createEmptyDatabase(t)
  const name = `starter_${randomBytes(4).toString('hex')}`
  await sql.unsafe(`create role ${name} login password 'secret' ${options}`)
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} owner to ${name}`)
  const address = new URL(url)
  address.username = name
  address.password = 'secret'
  return { sql, name, url: address.href }
}

async function takenPort(t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return String((server.address() as { port: number }).port)
}

t.test('what cannot open is named, and everything else is closed', async t => {
  const folder = temporaryFolder(t)
  const data = ['--data', join(folder, 'data')]
  const port = await takenPort(t)
  const { url } = await role(t, '')
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const database = ['--database-url', url]
  const cases: [string, Start, RegExp][] = [
    [
      'port',
      { args: ['serve', '--port', port, ...data, ...database] },
      /Cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\): another program .+ change .+ \(--port\)$/,
    ],
    [
      'metrics.bind of a worker',
      {
        args: ['worker', ...data, ...database],
        env: { STACKROOM_METRICS__BIND: `127.0.0.1:${port}` },
      },
      /Cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\): another program .+ change metrics\.bind$/,
    ],
    [
      'a file as the data directory',
      { args: ['doctor', '--data', file, ...database] },
      /data directory \S+file is not writable \(EEXIST\); choose another one with data_dir/,
    ],
    [
      'a data directory where none can be made',
      { args: ['doctor', '--data', '/proc/none/data', ...database] },
      /data directory \/proc\/none\/data is not writable \(ENOENT\)/,
    ],
  ]
  for (const [name, options, expected] of cases) {
    const { code, ms, message } = await start(t, options).ended
    t.equal(code, 2, name)
    t.match(message, [expected, ''], 'one sentence')
    t.equal(message.length, 2)
    t.ok(ms < 5_000, `${Math.round(ms)} ms after the answer`)
  }
})

t.test('a connection that is lost is one sentence, without a stack', async t => {
  const written = t.capture(process.stderr, 'write', () => true)
  const { exitCode } = process
  report(Object.assign(new Error('write CONNECTION_CLOSED db'), { code: 'CONNECTION_CLOSED' }))
  process.exitCode = exitCode
  t.match(written.args(), [[/^stackroom: The connection to the database was lost .+\n$/]])
})

t.test('connections that run out during the start end it', async t => {
  const { sql, name, url } = await role(t, '')
  const data = ['--data', join(temporaryFolder(t), 'data')]
  const { ended } = start(t, {
    args: ['serve', '--port', '0', ...data, '--database-url', url],
    onOutput(text) {
      if (text.includes('migration applied'))
        sql.unsafe(`alter role ${name} connection limit 2`).catch(() => {})
    },
  })
  const result = await ended
  t.equal(result.code, 2)
  t.match(result.message[0], /too many connections for role .+lower database\.max_connections/)
  t.ok(result.ms < 5_000)
})

t.test('a signal ends a start that waits for the database', async t => {
  const data = ['--data', join(temporaryFolder(t), 'data')]
  const url = `postgres://x@127.0.0.1:${await closedPort()}/x`
  for (const command of ['serve', 'doctor']) {
    const args = [command, ...data, '--database-url', url, '--log-level', 'info']
    let signalledAt = 0
    let pid = 0
    const running = start(t, {
      args,
      onOutput(text) {
        if (signalledAt > 0 || !text.includes('waiting for the database')) return
        signalledAt = performance.now()
        pid = JSON.parse(text.split('\n').find(line => line.startsWith('{'))!).pid
        process.kill(pid, 'SIGTERM')
      },
    })
    const { signal } = await running.ended
    t.equal(signal, 'SIGTERM', command)
    t.ok(performance.now() - signalledAt < 3_000)
  }
})

t.test('a signal ends a start that waits for the migration of another process', async t => {
  const { sql, url } = await role(t, '')
  const lockKey = 0x57ac_c001
  const holder = await sql.reserve()
  await holder`select pg_advisory_lock(${lockKey})`
  t.teardown(() => holder.release())
  const args = ['--data', join(temporaryFolder(t), 'data'), '--database-url', url]
  for (const command of ['migrate', 'serve'] as const) {
    const running = start(t, { args: [command, ...args] })
    let waiting: { pid: number }[] = []
    await waitUntil(async () => {
      waiting = await sql`
        select pid from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`
      return waiting.length > 0
    })
    running.child.kill('SIGTERM')
    const signalledAt = performance.now()
    t.equal((await running.ended).signal, 'SIGTERM', command)
    t.ok(performance.now() - signalledAt < 4_000)
    // PostgreSQL notices the end of a client that waits for a lock only later.
    for (const { pid } of waiting) await sql`select pg_terminate_backend(${pid}, 5000)`
  }
})

async function closedPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
