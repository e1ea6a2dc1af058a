// A protocol that the server does not know: its addresses, its way of signing in and its challenge are its own.
import t from 'tap'
import { openAuth } from '../../../lib/accounts/auth.ts'
import { openLog } from '../../../lib/base/log.ts'
import { record, Type } from '../../../lib/base/schema.ts'
import type { Deps } from '../../../lib/http/deps.ts'
import { openListGate } from '../../../lib/http/limits/list-gate.ts'
import type { Protocol } from '../../../lib/http/protocol.ts'
import { route } from '../../../lib/http/route.ts'
import { openServer } from '../../../lib/http/server.ts'
import { loadConfig } from '../../../lib/store/config/config.ts'
import { openDatabaseMonitor } from '../../../lib/store/postgres/monitor.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

const toy: Protocol = {
  roots: ['toy'],
  rewrite: path => path.replace(/^\/TOY(?=\/)/, '/toy'),
  credential({ headers }) {
    const secret = headers['x-toy']
    return secret === undefined ? null : { kind: 'key', secret: String(secret) }
  },
  challenge: async () => ({ headers: { 'www-authenticate': 'Toy' }, document: null }),
}

const shelf = route('GET /toy/shelf', {
  operationId: 'getToyShelf',
  atRoot: true,
  protocol: toy,
  permission: 'BooksRead',
  summary: 'Who reads',
  responses: { 200: record({ name: Type.String() }) },
  handle: ({ identity }) => ({ name: identity.account.username }),
})

t.test('a protocol needs no line of the framework', async t => {
  const { sql } = await createDatabase(t)
  const config = loadConfig({ env: {}, flags: { data_dir: temporaryFolder(t) } })
  const log = openLog({ level: 'error' })
  const auth = await openAuth({ sql, config, log })
  const monitor = await openDatabaseMonitor(sql, log)
  const deps = {
    ...{ sql, config, log, auth, monitor, identities: auth.identities },
    ...{ lists: openListGate(sql), lifecycle: { isShuttingDown: false } },
  } as unknown as Deps & { lists: ReturnType<typeof openListGate> }
  const server = await openServer(deps, [shelf])
  t.teardown(async () => {
    await server.close()
    await auth.close()
    await monitor.close()
  })
  const { key } = await insertAccount(sql, 'reader', { username: 'ada' })

  const get = (url: string, headers: Record<string, string> = {}) =>
    server.inject({ method: 'GET', url, headers: { host: 'books.example', ...headers } })
  const anonymous = await get('/toy/shelf')
  t.equal(anonymous.statusCode, 401)
  t.equal(anonymous.headers['www-authenticate'], 'Toy')
  t.equal((await get('/toy/shelf', { 'x-toy': 'stackroom_wrong' })).statusCode, 401)
  for (const path of ['/toy/shelf', '/TOY/shelf'])
    t.same((await get(path, { 'x-toy': key })).json(), { name: 'ada' }, path)
  t.same((await get('/toy/shelf', { 'x-api-key': key })).json(), { name: 'ada' }, 'as elsewhere')
  t.equal((await get('/toy/other', { 'x-toy': key })).statusCode, 404)
})
