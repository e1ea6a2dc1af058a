// A database that does not respond and gives no error, like one behind a network that went away.
import { createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { openApi } from '../../lib/api/open.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { connect, type Sql } from '../../lib/store/postgres/db.ts'
import { socketPath } from '../../lib/store/postgres/sockets.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { insertAccount } from '../kit/accounts.ts'
import { createDatabase } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { waitUntil } from '../kit/processes.ts'
import { apiDefaults } from '../kit/server.ts'

const { sql } = await createDatabase(t)
const relay = await startRelay(sql)
const relayed = connect(relay.url, { max: 4 })
const queue = await openQueue(sql, () => {})
const { server, close } = await openApi({
  sql: relayed,
  queue,
  config: loadConfig({
    env: {},
    flags: { data_dir: join(temporaryFolder(t), 'data'), ...apiDefaults },
  }),
  log: openLog({ level: 'fatal' }),
  probing: { tickMs: 100, slowMs: 100 },
})
const base = await server.listen({ host: '127.0.0.1', port: 0 })
const { key } = await insertAccount(sql, 'admin')
t.teardown(async () => {
  relay.resume()
  await close()
  await relayed.end({ timeout: 1 })
  await queue.close()
  relay.close()
})

async function ask(path: string, body?: object) {
  const answer = await fetch(`${base}${path}`, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  const { status, headers } = answer
  return { status, retryAfter: headers.get('retry-after'), body: JSON.parse(await answer.text()) }
}

/** A machine under load may be slower than the probe. */
async function askUntilAvailable(path: string, body?: object) {
  let answer = await ask(path, body)
  await waitUntil(
    async () => answer.status !== 503 || (answer = await ask(path, body)).status !== 503,
  )
  return answer
}

t.test('requests end with 503 while the database does not respond', async t => {
  t.equal((await askUntilAvailable('/api/v1/books')).status, 200)
  relay.pause()
  const collection = { name: 'Once' }
  const answers = await Promise.all([
    ask('/api/v1/books'),
    ask('/api/v1/collections', collection),
    ask('/api/v1/user/preferences'),
    ask('/koreader/syncs/progress/0123'),
  ])
  for (const answer of [...answers, await ask('/api/v1/series')]) {
    t.match(answer, { status: 503, retryAfter: '3' })
    t.match(answer.body, { message: /^The database is not available right now/ })
  }
  t.match(await ask('/health'), { status: 503, body: { status: 'degraded' } })

  relay.resume()
  t.equal((await askUntilAvailable('/api/v1/books')).status, 200)
  t.match(await askUntilAvailable('/health'), { status: 200, body: { status: 'ok' } })
  // Whether or not the first request was carried out.
  const { status } = await askUntilAvailable('/api/v1/collections', collection)
  t.ok(status === 201 || status === 409)
  t.equal((await askUntilAvailable('/api/v1/collections')).body.total, 1)
})

/** The database at another address, over connections that can be paused. */
async function startRelay({ options }: Sql) {
  const { target, user, pass, database } = options as unknown as {
    target: { hosts: [{ name: string; port: number }] }
    user: string
    pass: string
    database: string
  }
  const [{ name, port }] = target.hosts
  const sockets = new Set<Socket>()
  let isPaused = false
  const join = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', chunk => to.write(chunk))
    from
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    if (isPaused) from.pause()
  }
  const server = createServer(client => {
    const upstream = name.startsWith('/') ? dial(socketPath(name, port)) : dial(port, name)
    join(client, upstream)
    join(upstream, client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  return {
    url: `postgres://${user}:${encodeURIComponent(pass)}@127.0.0.1:${address.port}/${database}`,
    pause() {
      isPaused = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      isPaused = false
      for (const socket of sockets) socket.resume()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
