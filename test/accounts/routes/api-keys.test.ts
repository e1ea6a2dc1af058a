// API keys over HTTP.
import t from 'tap'
import { permissionNames } from '../../../lib/accounts/permission.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApi } from '../../kit/server.ts'

const missing = '00000000-0000-7000-8000-000000000000'

t.test('API key lifecycle', async t => {
  const all = await startApi(t)
  const ana = await all.createUser('reader')
  const created = await ana.post('/api-keys', {
    name: 'phone',
    permissions: ['books-read', 'API_KEYS_READ'],
  })
  t.equal(created.status, 201)
  t.match(created.body, {
    userId: ana.id,
    name: 'phone',
    key: /^stackroom_[0-9a-f]{16}_[0-9a-f]{40}$/,
    key_prefix: /^stackroom_[0-9a-f]{16}$/,
    permissions: ['BooksRead', 'ApiKeysRead'],
    isActive: true,
    expiresAt: null,
    lastUsedAt: null,
    created_at: created.body.createdAt,
    updatedAt: /Z$/,
  })
  const { id, key } = created.body
  const phone = all.withHeaders({ authorization: `Bearer ${key}` })
  const shown = await phone.get(`/api-keys/${id}`)
  t.equal(shown.status, 200)
  t.notOk('key' in shown.body, 'returned only once')
  t.equal((await phone.post('/api-keys', { name: 'x' })).status, 403)
  t.match((await ana.put(`/api-keys/${id}`, { name: 'tablet', isActive: false })).body, {
    name: 'tablet',
    isActive: false,
  })
  t.equal((await phone.get('/api-keys')).status, 401)
  const soon = new Date(Date.now() + 60_000).toISOString()
  t.match((await ana.patch(`/api-keys/${id}`, { is_active: true, expires_at: soon })).body, {
    expiresAt: soon,
  })
  t.match((await ana.patch(`/api-keys/${id}`, { expiresAt: null })).body, {
    expiresAt: null,
    isActive: true,
  })
  t.equal((await phone.get('/api-keys')).body.total, 2)
  await waitUntil(async () => (await ana.get(`/api-keys/${id}`)).body.lastUsedAt !== null)
  t.match((await ana.get(`/api-keys/${id}`)).body.lastUsedAt, /Z$/)
  t.equal((await ana.delete(`/api-keys/${id}`)).status, 204)
  t.equal((await phone.get('/api-keys')).status, 401)
  t.equal((await ana.delete(`/api-keys/${id}`)).status, 404)
})

t.test('a key has at most the permissions of its owner', async t => {
  const all = await startApi(t)
  const [admin, ana] = [await all.createUser('admin'), await all.createUser('reader')]
  t.same((await admin.post('/api-keys', { name: 'all' })).body.permissions, [...permissionNames])
  t.equal((await ana.post('/api-keys', { name: 'all' })).body.permissions.length, 12)
  for (const permissions of [['BooksWrite'], ['SystemAdmin'], ['BooksRead', 'UsersRead']])
    t.match(await ana.post('/api-keys', { name: 'more', permissions }), {
      status: 403,
      body: { message: /Missing required permission/ },
    })
  const past = new Date(Date.now() - 1000).toISOString()
  for (const bad of [
    {},
    { name: '' },
    { name: 'x', permissions: ['fly'] },
    { name: 'x', expiresAt: 'soon' },
    { name: 'x', expiresAt: past },
  ])
    t.equal((await ana.post('/api-keys', bad)).status, 400)
})

t.test('keys of other users require user permissions, and lists contain own keys only', async t => {
  const all = await startApi(t)
  const [admin, ana, bea] = [
    await all.createUser('admin'),
    await all.createUser('reader'),
    await all.createUser('reader'),
  ]
  const { id, key } = (await ana.post('/api-keys', { name: 'phone' })).body
  for (const ask of [bea.get, bea.delete]) t.equal((await ask(`/api-keys/${id}`)).status, 403)
  t.equal((await bea.put(`/api-keys/${id}`, { name: 'mine' })).status, 403)
  t.equal((await admin.get(`/api-keys/${id}`)).status, 200)
  t.equal((await admin.put(`/api-keys/${id}`, { permissions: ['SystemAdmin'] })).status, 200)
  const phone = all.withHeaders({ 'x-api-key': key })
  t.equal((await phone.get('/users')).status, 403, 'limited by the owner')
  t.equal((await phone.get('/user')).status, 200)
  t.equal((await admin.get('/api-keys')).body.total, 1)
  t.equal((await admin.delete(`/api-keys/${id}`)).status, 204)
  t.equal((await phone.get('/user')).status, 401)
  t.equal((await admin.get(`/api-keys/${missing}`)).status, 404)
})

t.test(
  'permissions are returned in the spelling of the specification, however they are sent',
  async t => {
    const admin = await (await startApi(t)).createUser('admin')
    const dashed = (name: string) => name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase()
    const spellings = [dashed, (name: string) => dashed(name).replace(/-(?=[^-]*$)/, ':'), String]
    for (const [i, spelled] of spellings.entries()) {
      const permissions = permissionNames.map(spelled)
      const key = await admin.post('/api-keys', { name: `key ${i}`, permissions })
      t.same(key.body.permissions, permissionNames)
      t.same((await admin.get(`/api-keys/${key.body.id}`)).body.permissions, permissionNames)
    }
    t.same((await admin.get('/auth/me')).body.effectivePermissions, permissionNames)
  },
)
