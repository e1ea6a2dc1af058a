// API keys and their owners: permitted reads and changes, and the maximum number of keys.
import { test } from 'tap'
import { insertApiKey } from '../../kit/accounts.ts'
import { enableKomga } from '../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

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
