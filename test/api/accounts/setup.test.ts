import t from 'tap'
import { newSetupToken } from '../../../lib/auth/setup-token.ts'
import { serve } from '../../kit/server.ts'

const first = { username: 'root', email: 'root@example.org', password: 'correct horse battery' }

t.test('a fresh server is set up once, and whoever does it is signed in', async t => {
  const { anyone, with: using, sql, base } = await serve(t)
  t.same((await anyone.get('/setup/status')).body, {
    setupRequired: true,
    hasUsers: false,
    registrationEnabled: false,
  })
  t.equal((await anyone.post('/setup/initialize', { ...first, password: '1234567' })).status, 400)
  t.equal((await anyone.post('/setup/initialize', { ...first, email: 'root' })).status, 400)
  t.equal((await anyone.post('/setup/initialize', { ...first, role: 'admin' })).status, 400)
  const token = (await newSetupToken(sql))!
  const proxied = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  t.equal((await anyone.post('/setup/initialize', first, proxied)).status, 403)
  const wrong = { ...first, setup_token: `${token}x` }
  t.equal((await anyone.post('/setup/initialize', wrong, proxied)).status, 403)
  const made = await anyone.post('/setup/initialize', { ...first, setup_token: token }, proxied)
  t.equal(made.status, 201)
  t.match(made.body, {
    access_token: made.body.accessToken,
    token_type: 'Bearer',
    expiresIn: 3600,
    message: String,
    user: { username: 'root', email: 'root@example.org', role: 'admin', emailVerified: true },
  })
  t.match(
    made.headers.get('set-cookie'),
    /^auth_token=\S+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  const root = using({ authorization: `Bearer ${made.body.access_token}` })
  t.equal((await root.get('/users')).body.total, 1)
  const again = await anyone.post('/setup/initialize', first)
  t.equal(again.status, 409)
  t.match(again.body, { error: 'Conflict', details: null })
  t.match((await anyone.get('/setup/status')).body, { setupRequired: false, hasUsers: true })
  t.ok(base)
})

t.test('the token may come in its header', async t => {
  const { anyone, sql } = await serve(t)
  const token = (await newSetupToken(sql))!
  const headers = { 'x-forwarded-for': '192.0.2.1', 'x-setup-token': token }
  t.equal((await anyone.post('/setup/initialize', first, { headers })).status, 201)
})
