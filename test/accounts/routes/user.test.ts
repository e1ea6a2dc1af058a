// Account of the caller over HTTP.
import t from 'tap'
import { createAccount } from '../../../lib/accounts/account.ts'
import { startApi } from '../../kit/server.ts'

const password = 'correct horse battery'

t.test('users see their profile and change their password and e-mail address', async t => {
  const { anonymous: anyone, withHeaders: using, sql } = await startApi(t)
  const { id } = await createAccount(sql, {
    username: 'ana',
    email: 'ana@example.org',
    password,
    ageLimit: 12,
  })
  await createAccount(sql, { username: 'bea', email: 'bea@example.org', password })
  const signIn = async (given = password) =>
    (await anyone.post('/auth/login', { username: 'ana', password: given })).body.access_token
  const [ana, elsewhere] = [await signIn(), await signIn()].map(token =>
    using({ authorization: `Bearer ${token}` }),
  ) as [ReturnType<typeof using>, ReturnType<typeof using>]
  const profile = (await ana.get('/user')).body
  t.match(profile, {
    id,
    username: 'ana',
    isActive: true,
    libraryIds: null,
    ageLimit: 12,
    showsUnrated: true,
    sharingTags: [],
    effectivePermissions: Array,
    lastLoginAt: /Z$/,
    createdAt: /Z$/,
  })
  const change = (currentPassword: string, newPassword: string) =>
    ana.put('/user/password', { currentPassword, newPassword })
  t.match(await change('wrong password', 'another password'), {
    status: 400,
    body: { message: /is incorrect/ },
  })
  t.equal((await change(password, 'short')).status, 400)
  t.equal((await change(password, 'another password')).status, 204)
  t.equal((await ana.get('/user')).status, 200)
  t.equal((await elsewhere.get('/user')).status, 401)
  t.equal(await signIn(), undefined)
  t.ok(await signIn('another password'))
  t.equal((await ana.patch('/user', { email: 'BEA@example.org' })).status, 409)
  t.match((await ana.patch('/user', { email: 'anna@example.org' })).body, {
    email: 'anna@example.org',
    emailVerified: false,
  })
  t.equal((await ana.patch('/user', { role: 'admin' })).status, 400)
})

t.test('an API key cannot change its account', async t => {
  const all = await startApi(t)
  const ana = await all.createUser('admin')
  t.equal((await ana.get('/user')).status, 200)
  t.equal((await ana.patch('/user', { email: 'x@example.org' })).status, 403)
  t.equal(
    (await ana.put('/user/password', { currentPassword: 'x', newPassword: password })).status,
    403,
  )
})
