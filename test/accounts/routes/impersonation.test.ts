// Impersonation: an administrator sees the application as another account, read-only.
import { test } from 'tap'
import { createAccount } from '../../../lib/accounts/account.ts'
import { resources } from '../../../lib/api/resources.ts'
import { openLog } from '../../../lib/base/log.ts'
import { endpoints, isRead } from '../../../lib/http/route.ts'
import { komgaRoutes } from '../../../lib/protocols/komga/routes/routes.ts'
import { hideSeries, receiveNotifications } from '../../kit/accounts.ts'
import type { Client } from '../../kit/http/client.ts'
import { openSseClient } from '../../kit/http/sse.ts'
import { enableKomga } from '../../kit/komga.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi, startApiWithoutPipeline, type TestApi } from '../../kit/server.ts'

const password = 'correct horse battery'
const unknownId = '00000000-0000-7000-8000-00000000dead'
type Api = Pick<TestApi, 'sql' | 'anonymous' | 'withHeaders'>
type NewAccount = Parameters<typeof createAccount>[1]

/** A new account, signed in. */
async function signedIn(all: Api, account: Partial<NewAccount> & { username: string }) {
  const email = `${account.username}@example.org`
  const { id } = await createAccount(all.sql, { email, password, ...account })
  const { username } = account
  const login = await all.anonymous.post('/auth/login', { username, password })
  const headers = { authorization: `Bearer ${login.body.accessToken}` }
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!
  return { id, cookie, ...all.withHeaders(headers), refreshToken: login.body.refreshToken }
}

const pathOf = (id: string) => `/users/${id}/impersonation-tokens`

/** The application as the account `id`, for `admin`. */
async function seenAs(all: Api, admin: Client, id: string) {
  const issued = await admin.post(pathOf(id))
  const authorization = `Bearer ${issued.body.accessToken}`
  return { issued, headers: { authorization }, ...all.withHeaders({ authorization }) }
}

test('an administrator sees what a user sees', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Open/open.cbz': comic({ pages: 2 }),
    'Hidden/hidden.cbz': comic({ pages: 2 }),
  })
  await library.scan()
  const [open, hidden] = await Promise.all([library.book('open.cbz'), library.book('hidden.cbz')])
  const admin = await signedIn(all, { username: 'admin', role: 'admin' })
  const reader = await signedIn(all, { username: 'reader' })
  const [seriesOfHidden] = await all.sql<{ id: string }[]>`
    select series_id as id from book where id = ${hidden.id}`
  await hideSeries(all.sql, reader.id, [seriesOfHidden!.id])
  const shown = await seenAs(all, admin, reader.id)

  await t.test('the token lasts 15 minutes and has the permissions to read', async t => {
    t.match(shown.issued, { status: 201, body: { tokenType: 'Bearer', expiresIn: 900 } })
    const { effectivePermissions: own } = (await reader.get('/auth/me')).body
    const me = (await shown.get('/auth/me')).body
    t.match(me, { id: reader.id, username: 'reader', role: 'reader' })
    t.same(me.effectivePermissions, shown.issued.body.effectivePermissions)
    t.same(
      me.effectivePermissions,
      own.filter((name: string) => /Read$|Health$/.test(name)),
    )
    t.notOk('refreshToken' in shown.issued.body)
  })

  await t.test('lists and records are those of the user', async t => {
    for (const path of ['/books', '/series', '/libraries', `/books/${open.id}`]) {
      const own = await reader.get(path)
      t.equal(own.status, 200, path)
      t.same((await shown.get(path)).body, own.body, path)
    }
    t.equal((await shown.get(`/books/${hidden.id}`)).status, 404)
    t.equal((await admin.get(`/books/${hidden.id}`)).status, 200)
    t.equal((await shown.post('/books/list', {})).body.total, 1)
  })

  await t.test('images and streams use a cookie of its own with ?as=ID', async t => {
    const setCookie = shown.issued.headers.get('set-cookie')!
    t.match(setCookie, /; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/)
    t.notMatch(setCookie, /auth_token/, 'the cookie of the administrator is not replaced')
    const cookie = `${admin.cookie}; ${setCookie.split(';')[0]}`
    const browser = all.withHeaders({ cookie })
    for (const [path, asUser, asAdmin] of [
      [`/books/${open.id}/pages/1`, 200, 200],
      [`/books/${hidden.id}/pages/1`, 404, 200],
      [`/books/${hidden.id}/thumbnail`, 404, 200],
    ] as const) {
      t.equal((await browser.get(`${path}?as=${reader.id}`)).status, asUser, path)
      t.equal((await browser.get(path)).status, asAdmin, path)
    }
    const onlyAdmin = all.withHeaders({ cookie: admin.cookie })
    const asUser = `/books/${open.id}/pages/1?as=${reader.id}`
    t.equal((await onlyAdmin.get(asUser)).status, 401, 'never the administrator instead')
    const path = `/events/stream?as=${reader.id}`
    t.equal((await openSseClient(t, all.base, { path, headers: { cookie } })).status, 200)
  })

  await t.test('reading changes nothing of the user', async t => {
    const state = () => all.sql`
      select a::text, (select count(*) from progress) as progress,
        (select count(*) from reading_session) as sessions, (select count(*) from session) as signed_in,
        (select max(used_at) from session where account_id = ${reader.id}) as used
      from account a where id = ${reader.id}`
    const before = await state()
    await shown.get(`/books/${open.id}/pages/1`)
    await shown.get(`/books/${open.id}/file`)
    t.equal((await shown.put(`/books/${open.id}/progress`, { currentPage: 2 })).status, 403)
    t.equal((await shown.post(`/books/${open.id}/read`)).status, 403)
    t.same(await state(), before)
  })
})

test('tokens of impersonation change nothing, and are accepted by the API only', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await signedIn(all, { username: 'admin', role: 'admin' })
  const other = await signedIn(all, { username: 'other', role: 'admin' })
  await enableKomga(admin)
  const { headers } = await seenAs(all, admin, other.id)
  const statusOf = async (method: string, url: string) => {
    const body = method === 'GET' ? {} : { body: '[]' }
    const init = { method, ...body, headers: { ...headers, 'content-type': 'application/json' } }
    const response = await fetch(all.base + url, init)
    await response.body?.cancel()
    return response.status
  }
  let writes = 0
  for (const { base, route } of [
    ...resources.map(route => ({ base: '', route })),
    ...komgaRoutes.map(route => ({ base: '/komga', route })),
  ]) {
    if (route.permission === 'public') continue
    const isForeign = base !== '' || route.atRoot === true
    if (!isForeign && isRead(route)) continue
    const { method, path } = endpoints(route)[0]!
    const url = base + path.replace(/\{\w+\}|\{\*\}/g, unknownId)
    t.equal(await statusOf(method, url), isForeign ? 401 : 403, `${method} ${url}`)
    writes += 1
  }
  t.ok(writes > 300, `${writes} operations`)
  t.equal((await all.sql`select from client_session`).length, 0, 'no session of an app begins')
})

test('who may see the application as another account, and until when', async t => {
  const all = await startApiWithoutPipeline(t)
  const lines: string[] = []
  const log = openLog({ level: 'info' }, { write: line => void lines.push(line) })
  const another = await all.startAnother({ log })
  const admin = await signedIn(all, { username: 'admin', role: 'admin' })
  const permissions = ['UsersRead', 'UsersWrite']
  const manager = await signedIn(all, { username: 'manager', permissions })
  const reader = await signedIn(all, { username: 'reader' })
  const statusOf = async (client: Client) => {
    await receiveNotifications(all.sql)
    return (await client.get('/books')).status
  }

  t.equal((await reader.post(pathOf(admin.id))).status, 403, 'needs the permission')
  t.equal((await manager.post(pathOf(admin.id))).status, 403, 'not with more permissions')
  t.equal((await admin.post(pathOf(unknownId))).status, 404)
  const { key } = await all.createUser('admin')
  const ofKey = await all.withHeaders({ 'x-api-key': key }).post(pathOf(reader.id))
  t.match(ofKey, { status: 403, body: { message: /sign-in/ } })

  const shown = await seenAs(all, manager, reader.id)
  t.equal(await statusOf(shown), 200)
  t.equal((await shown.post(pathOf(reader.id))).status, 403, 'issues no tokens')
  t.equal((await shown.post('/api-keys', { name: 'x' })).status, 403)

  await admin.patch(`/users/${manager.id}`, { permissions: [] })
  t.equal(await statusOf(shown), 401, 'the manager may no longer manage users')
  await admin.patch(`/users/${manager.id}`, { permissions })
  t.equal(await statusOf(shown), 200)
  await admin.patch(`/users/${reader.id}`, { role: 'maintainer' })
  t.equal(await statusOf(shown), 401, 'the user has more permissions than the manager')
  await admin.patch(`/users/${reader.id}`, { role: 'reader', isActive: false })
  t.equal(await statusOf(shown), 401, 'the user is disabled')
  t.equal((await manager.post(pathOf(reader.id))).status, 404)
  await admin.patch(`/users/${reader.id}`, { isActive: true })
  t.equal(await statusOf(shown), 200)
  await manager.post('/auth/logout', { refreshToken: manager.refreshToken })
  t.equal(await statusOf(shown), 401, 'the manager has signed out')

  const logged = await fetch(`${another.base}/api/v1${pathOf(reader.id)}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${(await all.anonymous.post('/auth/login', { username: 'admin', password })).body.accessToken}`,
    },
  })
  const { accessToken } = (await logged.json()) as { accessToken: string }
  await (
    await fetch(`${another.base}/api/v1/books`, {
      headers: { authorization: `Bearer ${accessToken}` },
    })
  ).text()
  await another.close()
  const entries = lines.map(line => JSON.parse(line))
  const audit = entries.filter(({ msg }) => msg === 'impersonation token issued')
  t.match(audit, [{ accountId: reader.id, actorId: admin.id, sessionId: String }])
  t.match(
    entries.find(({ route }) => route === '/api/v1/books'),
    { userId: reader.id, actorId: admin.id },
  )
})
