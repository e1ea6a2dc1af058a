// Permissions of API keys on writing operations: a key with a single permission writes only what that
// permission covers, one without a permission to write changes nothing, and one that lacks a required permission is
// refused, natively and in the compatible API.
import { test } from 'tap'
import { komgaResources } from '../../lib/api/komga/routes.ts'
import { resources } from '../../lib/api/resources.ts'
import { type Permission, permissionNames } from '../../lib/auth/permission.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import { insertApiKey } from '../kit/accounts.ts'
import { enableKomga } from '../kit/komga.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'

const trees = [
  { base: '', routes: resources },
  { base: '/komga', routes: komgaResources },
]
const unknownId = '00000000-0000-7000-8000-00000000dead'
const reading = permissionNames.filter(name => /(Read|Health)$/.test(name))
/** Lists with a condition or a text in their body. */
/** What only reads, although its method is POST. */
const onlyReads = (path: string) =>
  /\/(list|search)(\/|$)|\/(templates|auto-match)\/preview$/.test(path)

test('keys write what their permissions cover', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const { id } = admin
  await enableKomga(admin)
  const [reader, ...single] = await Promise.all(
    [reading, ...permissionNames.map(name => [name])].map(async permissions => {
      const { key } = await insertApiKey(all.sql, id, permissions)
      return { permissions, key }
    }),
  )
  const writing = operationsWhere(
    ({ route, method }) =>
      route.permission !== 'public' && !onlyReads(route.path) && method !== 'GET',
  )
  t.ok(writing.length > 160, `${writing.length} writing operations`)
  for (const { route, method, url } of writing) {
    // A body of a wrong type: nothing is written by a request that is permitted.
    const send = async ({ key }: { key: string }) => await statusOf(all.base, { method, url, key })
    t.equal(await send(reader!), 403, `${method} ${url} with reading permissions`)
    if (route.permission !== 'auth') continue
    const permitted = []
    for (const client of single)
      if ((await send(client)) !== 403) permitted.push(...client.permissions)
    t.same(permitted, ['ProgressWrite', 'SystemAdmin'], `${method} ${url}`)
  }
})

test('keys that lack a required permission are refused', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const keys = new Map<string, Promise<{ key: string }>>()
  const keyWithout = (lacking: readonly Permission[]) => {
    // An administrator has every permission.
    const without = [...lacking, 'SystemAdmin']
    const permissions = permissionNames.filter(name => !without.includes(name))
    const name = lacking.join()
    if (!keys.has(name)) keys.set(name, insertApiKey(all.sql, admin.id, permissions))
    return keys.get(name)!
  }
  const restricted = operationsWhere(({ route }) => requirements(route).length > 0)
  t.ok(restricted.length > 250, `${restricted.length} operations`)
  for (const { route, method, url } of restricted)
    for (const lacking of requirements(route)) {
      const { key } = await keyWithout(lacking)
      const status = await statusOf(all.base, { method, url, key })
      t.equal(status, 403, `${method} ${url} without ${lacking.join(' and ')}`)
    }
})

test('a key reads and changes nothing of its owner beyond its permissions', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const { key: powerless } = await insertApiKey(all.sql, admin.id, [])
  const { key: reading } = await insertApiKey(all.sql, admin.id, ['ProgressRead'])
  const personal = ['/user/reading-export', '/want-to-read', '/filter-presets', '/user/preferences']
  for (const url of [
    ...personal.map(path => `/api/v1${path}`),
    '/komga/api/v1/client-settings/user/list',
  ]) {
    t.equal(await statusOf(all.base, { method: 'GET', url, key: powerless }), 403, url)
    t.equal(await statusOf(all.base, { method: 'GET', url, key: reading }), 200, url)
  }
  const { key } = await insertApiKey(all.sql, admin.id, ['UsersRead', 'UsersWrite', 'SystemAdmin'])
  const change = async (method: string, path: string, credential: Record<string, string>) => {
    const headers = { 'content-type': 'application/json', ...credential }
    const body = JSON.stringify({ password: 'correct horse battery' })
    return (await fetch(`${all.base}${path}`, { method, headers, body })).status
  }
  const own: [string, string][] = [
    ['PUT', `/api/v1/users/${admin.id}`],
    ['PATCH', `/komga/api/v2/users/${admin.id}/password`],
    ['PATCH', '/komga/api/v2/users/me/password'],
  ]
  for (const [method, path] of own)
    t.equal(await change(method, path, { 'x-api-key': key }), 403, `${method} ${path}`)
  const account = { username: 'second', email: 'second@example.org', password: 'a long password' }
  const { id } = (await admin.post('/users', { ...account, role: 'admin' })).body
  const tokens = await all.anonymous.post('/auth/login', {
    ...{ username: account.username, password: account.password },
  })
  const session = { authorization: `Bearer ${tokens.body.accessToken}` }
  await all.sql`update session set created_at = now() - interval '1 hour'`
  for (const path of [id, 'me'].map(whose => `/komga/api/v2/users/${whose}/password`))
    t.equal(await change('PATCH', path, session), 403, `${path}: signed in an hour ago`)
  await all.sql`update session set created_at = now()`
  t.equal(await change('PATCH', '/komga/api/v2/users/me/password', session), 204)
})

type Operation = { route: Route; method: string; url: string }

/** Documented operations of both APIs, with ids that do not exist. */
function operationsWhere(isChosen: (operation: Operation) => boolean): Operation[] {
  const operations = trees.flatMap(({ base, routes }) =>
    routes.flatMap(route =>
      endpoints(route)
        .filter(({ operationId }) => operationId !== null)
        .map(({ method, path }) => ({
          ...{ route, method },
          url: base + path.replace(/\{\w+\}|\{\*\}/g, unknownId),
        })),
    ),
  )
  return operations.filter(isChosen)
}

/** Sets of permissions of which a key must have at least one. */
function requirements({ permission }: Route): (readonly Permission[])[] {
  if (permission === 'public' || permission === 'auth') return []
  if (typeof permission === 'string') return [[permission]]
  return [...(permission.all ?? []).map(name => [name]), permission.any]
}

async function statusOf(
  base: string,
  { method, url, key }: Record<'method' | 'url' | 'key', string>,
) {
  const init = method === 'GET' ? {} : { body: '[]' }
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const response = await fetch(base + url, { method, headers, ...init, redirect: 'manual' })
  await response.body?.cancel()
  return response.status
}

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
