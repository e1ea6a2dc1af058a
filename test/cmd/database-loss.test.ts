// Loss of the bundled database under `serve`: restart, answers meanwhile, events, jobs and the shutdown.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { connect } from '../../lib/store/postgres/db.ts'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { isServer, readPostmaster } from '../../lib/store/postgres/embedded/server.ts'
import { insertAccount } from '../kit/accounts.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { waitUntil } from '../kit/processes.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

t.test('serve survives kill -9 of its database', { timeout: 280_000 }, async t => {
  const data = join(temporaryFolder(t), 'data')
  const cluster = join(data, 'postgres')
  const child = spawn(process.execPath, [launcher, 'serve', '--data', data, '--port', '0'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, STACKROOM_WEB__ENABLED: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => {
      output[name] += chunk
    })
  const ended = once(child, 'close').then(([code]) => code)
  t.teardown(() => child.kill('SIGKILL'))
  await waitUntil(() => /listening on (\S+)\n.*Setup token/s.test(output.stdout))
  const base = /listening on (\S+)/.exec(output.stdout)![1]!
  // A second user of the server for a moment; it does not stop it.
  const second = await startPostgres({ dataDir: data })
  const sql = connect(second.url, { max: 1 })
  const { key } = await insertAccount(sql, 'admin')
  await sql.end()
  await second.stop()
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(`${base}${path}`, { ...init, headers })
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream) await answer.body!.cancel()
    const body = isStream ? '' : await answer.text()
    return { status: answer.status, headers: answer.headers, body }
  }
  const events = new AbortController()
  const received: string[] = []
  const stream = fetch(`${base}/api/v1/events/stream`, {
    headers: { 'x-api-key': key },
    signal: events.signal,
  }).then(async answer => {
    for await (const chunk of answer.body!) received.push(Buffer.from(chunk).toString())
  })
  stream.catch(() => {})
  await waitUntil(() => received.length > 0)

  const first = readPostmaster(cluster)!
  process.kill(first.pid, 'SIGKILL')
  const meanwhile = new Map<number, string | null>()
  const paths = ['/api/v1/books', '/opds/v1.2', '/opds/v2', '/api/v1/events/stream', '/health']
  await waitUntil(async () => {
    for (const path of paths) {
      const { status, headers, body } = await ask(path, {
        signal: AbortSignal.timeout(60_000),
      }).catch(
        // A stream that was opened before the loss was noticed.
        () => ({ status: 200, headers: new Headers(), body: '' }),
      )
      if (status === 503 && path === '/health') t.match(body, /"degraded"/)
      if (status >= 500) meanwhile.set(status, headers.get('retry-after'))
      if (status === 503 && path === '/api/v1/books') t.match(body, /database is not available/)
    }
    const running = readPostmaster(cluster)
    return running !== null && running.pid !== first.pid && (await ask('/health')).status === 200
  })
  for (const [status, retryAfter] of meanwhile)
    t.same([status, Number(retryAfter) > 0], [503, true])

  // Notifications, events and jobs go on: a library is created, scanned and announced.
  const library = { name: 'After', path: temporaryFolder(t) }
  const made = await ask('/api/v1/libraries', { method: 'POST', body: JSON.stringify(library) })
  t.equal(made.status, 201)
  const { id } = JSON.parse(made.body)
  await ask(`/api/v1/libraries/${id}/scan`, { method: 'POST' })
  await waitUntil(() => /library_created/.test(received.join('')))
  await waitUntil(async () => {
    const { body } = await ask(`/api/v1/libraries/${id}`)
    return JSON.parse(body).lastScannedAt !== null
  })
  events.abort()

  // During another loss the server still ends.
  process.kill(readPostmaster(cluster)!.pid, 'SIGKILL')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const last = readPostmaster(cluster)
  t.notOk(last && isServer(last.pid, cluster), 'and its database with it')
  t.notMatch(output.stderr, /"level":(50|60)/, 'a loss is no error of the program')
})
