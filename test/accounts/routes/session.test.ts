// Authentication over HTTP: sign-in, sessions, registration.
import t from 'tap'
import { createAccount } from '../../../lib/accounts/account.ts'
import { startApi } from '../../kit/server.ts'

const password = 'correct horse battery'
const both = [
  'access_token',
  'accessToken',
  'refresh_token',
  'refreshToken',
  'token_type',
  'tokenType',
  'expires_in',
  'expiresIn',
]

t.test('a session from sign-in to sign-out', async t => {
  const { anonymous: anyone, withHeaders: using, sql } = await startApi(t)
  const ana = await createAccount(sql, { username: 'ana', email: 'ana@example.org', password })
  const login = await anyone.post('/auth/login', { username: 'Ana@example.org', password })
  t.equal(login.status, 200)
  t.same(Object.keys(login.body).sort(), [...both, 'user'].sort())
  t.same(login.body.user, {
    id: ana.id,
    username: 'ana',
    email: 'ana@example.org',
    role: 'reader',
    emailVerified: true,
    permissions: [],
  })
  t.equal(login.headers.get('cache-control'), 'no-store')
  const cookie = { cookie: login.headers.get('set-cookie')!.split(';')[0]! }
  const me = await using({ authorization: `Bearer ${login.body.access_token}` }).get('/auth/me')
  t.match(me.body, { ...login.body.user, effectivePermissions: Array })
  t.ok(me.body.effectivePermissions.includes('BooksRead'))
  t.match((await using(cookie).get('/auth/me')).body, { id: ana.id })
  t.equal(
    (await using(cookie).get('/user')).status,
    401,
    'the cookie is accepted only where needed',
  )
  t.equal((await using({ ...cookie, 'sec-fetch-site': 'cross-site' }).get('/auth/me')).status, 401)
  const next = await anyone.post('/auth/refresh', { refresh_token: login.body.refresh_token })
  t.same(Object.keys(next.body).sort(), [...both].sort())
  t.not(next.body.refreshToken, login.body.refreshToken)
  const client = using({ authorization: `Bearer ${next.body.accessToken}` })
  const out = await client.post('/auth/logout', { refreshToken: null })
  t.equal(out.status, 200)
  t.match(out.headers.get('set-cookie'), /^auth_token=; Max-Age=0; Path=\//)
  t.equal((await client.get('/auth/me')).status, 401)
  t.equal(
    (await anyone.post('/auth/refresh', { refreshToken: next.body.refreshToken })).status,
    401,
  )
  t.equal((await using(cookie).get('/auth/me')).status, 401)
})

t.test('failed sign-ins are indistinguishable, and bodies are validated', async t => {
  const { anonymous: anyone, sql } = await startApi(t)
  await createAccount(sql, { username: 'ana', email: 'ana@example.org', password })
  const invalid = await anyone.post('/auth/login', { username: 'ana', password: 'wrong password' })
  const unknown = await anyone.post('/auth/login', { username: 'unknown', password })
  t.equal(invalid.status, 401)
  t.same(invalid.body, unknown.body)
  t.match(invalid.body, { error: 'Unauthorized', message: 'Invalid credentials', details: null })
  for (const body of [
    undefined,
    {},
    [],
    { username: 'ana' },
    { username: 1, password },
    { username: 'ana', password, x: 1 },
  ])
    t.equal((await anyone.post('/auth/login', body)).status, 400)
  t.equal((await anyone.post('/auth/login', { username: 'a\0', password })).status, 400)
  t.equal((await anyone.post('/auth/logout')).status, 401)
  t.equal((await anyone.post('/auth/refresh', { refreshToken: 'x' })).status, 401)
})

t.test('single sign-on has no providers', async t => {
  const { anonymous: anyone } = await startApi(t)
  const { status, body } = await anyone.get('/auth/oidc/providers')
  t.same({ status, body }, { status: 200, body: { enabled: false, providers: [] } })
})

t.test('registration follows the setting', async t => {
  const { anonymous: anyone, withHeaders: using, sql } = await startApi(t)
  const bea = { username: 'bea', email: 'bea@example.org', password }
  t.match(await anyone.post('/auth/register', bea), { status: 403, body: { error: 'Forbidden' } })
  await sql`insert into setting (key, value) values ('auth.registration_enabled', 'true')`
  t.match((await anyone.get('/setup/status')).body, { registrationEnabled: true })
  const created = await anyone.post('/auth/register', bea)
  t.equal(created.status, 201)
  t.match(created.body, {
    token_type: 'Bearer',
    message: null,
    user: { username: 'bea', role: 'reader' },
  })
  t.match(created.headers.get('set-cookie'), /^auth_token=/)
  t.equal(
    (await using({ authorization: `Bearer ${created.body.accessToken}` }).get('/auth/me')).status,
    200,
  )
  t.equal((await anyone.post('/auth/register', bea)).status, 409)
  t.equal((await anyone.post('/auth/verify-email', { token: 'x' })).status, 400)
  const known = await anyone.post('/auth/resend-verification', { email: bea.email })
  t.same(
    known.body,
    (await anyone.post('/auth/resend-verification', { email: 'x@example.org' })).body,
  )
  t.equal(known.status, 200)
})

t.test('registration with verification reports a missing mail server', async t => {
  const { anonymous: anyone, sql } = await startApi(t, { 'auth.email_confirmation_required': true })
  await sql`insert into setting (key, value) values ('auth.registration_enabled', 'true')`
  const created = await anyone.post('/auth/register', {
    username: 'bea',
    email: 'bea@example.org',
    password,
  })
  t.equal(created.status, 201)
  t.equal(created.headers.get('set-cookie'), null)
  t.match(created.body, {
    access_token: null,
    tokenType: null,
    message: /could not be sent/,
    user: { emailVerified: false },
  })
})

t.test('the cookie is Secure for HTTPS requests, or if configured', async t => {
  const { anonymous: anyone, sql } = await startApi(t, {
    'application.trusted_proxies': '127.0.0.1',
  })
  await createAccount(sql, { username: 'ana', email: 'ana@example.org', password })
  const cookie = async (headers: Record<string, string>) =>
    (await anyone.post('/auth/login', { username: 'ana', password }, { headers })).headers.get(
      'set-cookie',
    )
  t.notMatch(await cookie({}), /Secure/)
  const https = { 'x-forwarded-proto': 'https' }
  t.match(await cookie(https), /; Secure$/)
  t.match(await cookie({ ...https, origin: 'https://books.example.org' }), /; Secure$/)
  // As where the public URL is HTTPS.
  const onLocalNetwork = { ...https, origin: 'http://192.168.1.2:8080' }
  t.notMatch(await cookie(onLocalNetwork), /Secure/, 'browsers would not store it')
})

t.test('sign-in attempts are limited', async t => {
  const { anonymous: anyone } = await startApi(t, {
    'rate_limit.enabled': true,
    'rate_limit.login_burst': 3,
    'rate_limit.login_per_minute': 1,
  })
  const statuses: number[] = []
  for (let i = 0; i < 5; i++)
    statuses.push((await anyone.post('/auth/login', { username: `u${i}`, password })).status)
  t.same(statuses, [401, 401, 401, 429, 429])
})
