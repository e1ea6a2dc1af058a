// User management over HTTP.
import t from 'tap'
import { hashPassword } from '../../../lib/accounts/password.ts'
import { newId } from '../../../lib/base/id.ts'
import { createClient } from '../../kit/http/client.ts'
import { enableKomga } from '../../kit/komga.ts'
import { startApi } from '../../kit/server.ts'

const password = 'correct horse battery'
const missing = '00000000-0000-7000-8000-000000000000'

t.test('administrators create, update, list and delete users', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin', { username: 'root' })
  const created = await admin.post('/users', {
    username: 'Ana',
    email: 'ana@example.org',
    password,
    permissions: ['books-write'],
    library_ids: [],
    age_limit: 16,
    shows_unrated: false,
  })
  t.equal(created.status, 201)
  t.match(created.body, {
    username: 'Ana',
    role: 'reader',
    permissions: ['BooksWrite'],
    isActive: true,
    emailVerified: true,
    libraryIds: [],
    ageLimit: 16,
    showsUnrated: false,
    lastLoginAt: null,
    createdAt: /Z$/,
  })
  const { id } = created.body
  for (const taken of [
    { username: 'ana', email: 'x@example.org', password },
    { username: 'x', email: 'ANA@example.org', password },
  ])
    t.match(await admin.post('/users', taken), { status: 409, body: { error: 'Conflict' } })
  for (const bad of [
    { username: 'x', email: 'x@example.org', password: 'short' },
    { username: 'x', email: 'x@example.org' },
    { username: 'x', email: 'x@example.org', password, permissions: ['fly'] },
    { username: 'x', email: 'x@example.org', password, role: 'king' },
    { username: 'x', email: 'x@example.org', password, libraryIds: [newId()] },
  ])
    t.match(await admin.post('/users', bad), { status: 400, body: { error: 'BadRequest' } })
  t.match((await admin.get(`/users/${id}`)).body, { username: 'Ana', sharingTags: [] })
  t.match(
    (await admin.patch(`/users/${id}`, { isActive: false, libraryIds: null, ageLimit: null })).body,
    {
      isActive: false,
      libraryIds: null,
      ageLimit: null,
      showsUnrated: false,
    },
  )
  t.match(
    (await admin.put(`/users/${id}`, { is_active: true, role: 'maintainer', permissions: [] }))
      .body,
    {
      isActive: true,
      role: 'maintainer',
      permissions: [],
    },
  )
  t.equal((await admin.put(`/users/${id}`, {})).status, 200)
  const found = (await admin.get('/users?page_size=1&page=1')).body
  t.match(found, { total: 2, totalPages: 2, pageSize: 1, data: [{ username: 'Ana' }] })
  t.same(
    (await admin.get('/users?role=admin')).body.data.map(
      (u: { id: string; username: string }) => u.username,
    ),
    ['root'],
  )
  t.equal((await admin.get('/users?pageSize=500')).body.pageSize, 100)
  t.equal((await admin.delete(`/users/${id}`)).status, 204)
  for (const gone of [id, missing]) {
    t.equal((await admin.get(`/users/${gone}`)).status, 404)
    t.equal((await admin.put(`/users/${gone}`, { ageLimit: 1 })).status, 404)
    t.equal((await admin.delete(`/users/${gone}`)).status, 404)
  }
  t.equal((await admin.get('/users/1')).status, 404)
})

t.test('the last administrator and the own account cannot be deleted', async t => {
  const all = await startApi(t)
  const root = await all.createUser('admin')
  t.equal((await root.delete(`/users/${root.id}`)).status, 400)
  t.equal((await root.put(`/users/${root.id}`, { role: 'reader' })).status, 403, 'by a key')
  await all.sql`update account set password_hash = ${await hashPassword(password)}
    where id = ${root.id}`
  const { body } = await all.anonymous.post('/auth/login', { username: root.username, password })
  const session = createClient(all.base, { authorization: `Bearer ${body.accessToken}` })
  t.match(await session.put(`/users/${root.id}`, { role: 'reader' }), {
    status: 409,
    body: { error: 'Conflict' },
  })
  t.equal((await session.patch(`/users/${root.id}`, { isActive: false })).status, 409)
  const own = { password: 'another password' }
  for (const currentPassword of [undefined, '', 'not this one'])
    t.match(await session.put(`/users/${root.id}`, { ...own, currentPassword }), {
      status: 400,
      body: { message: 'The current password is incorrect' },
    })
  const changed = await session.put(`/users/${root.id}`, { ...own, currentPassword: password })
  t.equal(changed.status, 200)
  const other = await all.createUser('admin')
  t.equal((await other.put(`/users/${root.id}`, { password })).status, 200, 'by another account')
  t.equal((await other.put(`/users/${root.id}`, { role: 'reader' })).status, 200)
  t.equal((await root.get('/users')).status, 403, 'demotion takes effect immediately')
})

t.test('user managers cannot grant or revoke permissions that they lack', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const clerk = await all.createUser('reader', {
    permissions: ['UsersRead', 'UsersWrite', 'UsersDelete'],
  })
  const reader = await all.createUser('reader')
  t.equal((await reader.get('/users')).status, 403)
  t.equal((await all.anonymous.get('/users')).status, 401)
  const someone = (n: number) => ({ username: `n${n}`, email: `n${n}@example.org`, password })
  const created = await clerk.post('/users', someone(1))
  t.equal(created.status, 201)
  t.equal((await clerk.post('/users', { ...someone(2), permissions: ['users:read'] })).status, 201)
  t.equal((await clerk.post('/users', { ...someone(3), role: 'admin' })).status, 403)
  t.equal((await clerk.post('/users', { ...someone(3), permissions: ['SystemAdmin'] })).status, 403)
  t.equal((await clerk.put(`/users/${created.body.id}`, { role: 'maintainer' })).status, 403)
  t.equal(
    (await clerk.put(`/users/${admin.id}`, { password })).status,
    403,
    'administrators are out of reach',
  )
  t.equal((await clerk.delete(`/users/${admin.id}`)).status, 403)
  t.equal((await clerk.put(`/users/${clerk.id}`, { permissions: ['SystemAdmin'] })).status, 403)
  t.equal((await clerk.delete(`/users/${created.body.id}`)).status, 204)
  await admin.put(`/users/${clerk.id}`, { ageLimit: 12 })
  t.equal(
    (await clerk.post('/users', someone(4))).status,
    403,
    'a restricted user cannot create an unrestricted one',
  )
})

t.test('libraries that are hidden from the caller are in no account', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const [visible, hidden] = [newId(), newId()]
  await all.sql`
    insert into library (id, name, root) values (${visible}, 'V', '/v'), (${hidden}, 'H', '/h')`
  const caller = await all.createUser('reader', { permissions: ['UsersRead'] })
  const other = await all.createUser('reader')
  await admin.put(`/users/${caller.id}`, { libraryIds: [visible] })
  await admin.put(`/users/${other.id}`, { libraryIds: [visible, hidden] })
  const path = `/users/${other.id}`
  t.same((await caller.get(path)).body.libraryIds, [visible])
  t.same((await admin.get(path)).body.libraryIds.toSorted(), [visible, hidden].toSorted())
  const listed = JSON.stringify((await caller.get('/users')).body)
  const komga = await fetch(`${all.base}/komga/api/v2/users`, {
    headers: { 'x-api-key': caller.key },
  })
  t.equal(komga.status, 200)
  t.notMatch(listed + (await komga.text()), hidden)
})
