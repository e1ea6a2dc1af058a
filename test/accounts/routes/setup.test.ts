// Initial setup over HTTP.
import t from 'tap'
import { createSetupToken } from '../../../lib/accounts/setup.ts'
import { startApi } from '../../kit/server.ts'

const first = { username: 'root', email: 'root@example.org', password: 'correct horse battery' }

t.test('initial setup works once and signs the administrator in', async t => {
  const { anonymous: anyone, withHeaders: using, sql, base } = await startApi(t)
  t.same((await anyone.get('/setup/status')).body, {
    setupRequired: true,
    hasUsers: false,
    registrationEnabled: false,
  })
  t.equal((await anyone.post('/setup/initialize', { ...first, password: '1234567' })).status, 400)
  t.equal((await anyone.post('/setup/initialize', { ...first, email: 'root' })).status, 400)
  t.equal((await anyone.post('/setup/initialize', { ...first, role: 'admin' })).status, 400)
  const token = (await createSetupToken(sql))!
  const proxied = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  const refused = await anyone.post('/setup/initialize', first, proxied)
  t.equal(refused.status, 403)
  t.match(
    refused.body.message,
    /`stackroom serve` prints it .* X-Setup-Token.* setupToken in the body/,
  )
  const invalid = { ...first, setup_token: `${token}x` }
  t.equal((await anyone.post('/setup/initialize', invalid, proxied)).status, 403)
  const created = await anyone.post('/setup/initialize', { ...first, setup_token: token }, proxied)
  t.equal(created.status, 201)
  t.match(created.body, {
    access_token: created.body.accessToken,
    token_type: 'Bearer',
    expiresIn: 3600,
    message: String,
    user: { username: 'root', email: 'root@example.org', role: 'admin', emailVerified: true },
  })
  t.match(
    created.headers.get('set-cookie'),
    /^auth_token=\S+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  const root = using({ authorization: `Bearer ${created.body.access_token}` })
  t.equal((await root.get('/users')).body.total, 1)
  const again = await anyone.post('/setup/initialize', first)
  t.equal(again.status, 409)
  t.match(again.body, { error: 'Conflict', details: { reason: 'setup_done' } })
  t.match((await anyone.get('/setup/status')).body, { setupRequired: false, hasUsers: true })
  t.ok(base)
})

t.test('the setup token is accepted in its header', async t => {
  const { anonymous: anyone, sql } = await startApi(t)
  const token = (await createSetupToken(sql))!
  const headers = { 'x-forwarded-for': '192.0.2.1', 'x-setup-token': token }
  t.equal((await anyone.post('/setup/initialize', first, { headers })).status, 201)
})

t.test('settings of the setup: known keys are written, all or none', async t => {
  const { createUser } = await startApi(t)
  const admin = await createUser('admin')
  const maintainer = await createUser('maintainer')
  const request = { settings: { 'application.name': 'Shelf' }, skipConfiguration: false }
  t.equal((await maintainer.patch('/setup/settings', request)).status, 403)
  const skipped = await admin.patch('/setup/settings', { ...request, skipConfiguration: true })
  t.equal(skipped.body.settingsConfigured, 0)
  const invalid = { ...request.settings, 'auth.registration_enabled': 'perhaps' }
  t.equal((await admin.patch('/setup/settings', { settings: invalid })).status, 400)
  t.equal((await admin.get('/settings/branding')).body.applicationName, 'Stackroom')
  const settings = { ...request.settings, 'auth.registration_enabled': 'true', 'other.key': '1' }
  t.match((await admin.patch('/setup/settings', { settings })).body, {
    settingsConfigured: 2,
    message: /unknown settings skipped: other\.key$/,
  })
  t.equal((await admin.get('/admin/settings/application.name')).body.value, 'Shelf')
  t.equal((await admin.get('/setup/status')).body.registrationEnabled, true)
  t.equal((await admin.patch('/setup/settings', {})).body.settingsConfigured, 0)
})
