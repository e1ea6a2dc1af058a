// Permissions of API keys on writing operations: a key with a single permission writes only what that
// permission covers, and one without a permission to write changes nothing.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { permissionNames } from '../../lib/auth/permission.ts'
import { endpoints } from '../../lib/http/route.ts'
import { insertApiKey } from '../kit/accounts.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'

const unknownId = '00000000-0000-7000-8000-00000000dead'
const reading = permissionNames.filter(name => /(Read|Health)$/.test(name))
/** Lists with a condition or a text in their body. */
const isList = (path: string) => /\/(list|search)(\/|$)/.test(path)

test('keys write what their permissions cover', async t => {
  const all = await startApiWithoutPipeline(t)
  const { id } = await all.createUser('admin')
  const [reader, ...single] = await Promise.all(
    [reading, ...permissionNames.map(name => [name])].map(async permissions => {
      const { key } = await insertApiKey(all.sql, id, permissions)
      return { permissions, ...all.withHeaders({ 'x-api-key': key }) }
    }),
  )
  const writing = resources.flatMap(route =>
    route.permission === 'public' || isList(route.path)
      ? []
      : endpoints(route)
          .filter(({ method, operationId }) => method !== 'GET' && operationId !== null)
          .map(({ method, path }) => ({ route, method, path: path.replace('/api/v1', '') })),
  )
  t.ok(writing.length > 80, `${writing.length} writing operations`)
  for (const { route, method, path } of writing) {
    const url = path.replace(/\{\w+\}|\{\*\}/g, unknownId)
    // A body of a wrong type: nothing is written by a request that is permitted.
    const send = (client: typeof reader) => client!.request(method, url, { body: [] })
    t.equal((await send(reader)).status, 403, `${method} ${path} with reading permissions`)
    if (route.permission !== 'auth') continue
    const permitted = []
    for (const client of single)
      if ((await send(client)).status !== 403) permitted.push(...client.permissions)
    t.same(permitted, ['ProgressWrite', 'SystemAdmin'], `${method} ${path}`)
  }
})

test('an account has a bounded number of keys, however many are created at once', async t => {
  const all = await startApiWithoutPipeline(t)
  const user = await all.createUser('reader')
  await all.sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    select gen_random_uuid(), ${user.id}, 'key', 'stackroom_' || n, sha256('x'), '{}'
    from generate_series(1, 95) n`
  const created = await Promise.all(
    Array.from({ length: 10 }, () => user.post('/api-keys', { name: 'one more' })),
  )
  t.equal(created.filter(({ status }) => status === 201).length, 4)
  t.equal((await user.get('/api-keys')).body.total, 100)
})
