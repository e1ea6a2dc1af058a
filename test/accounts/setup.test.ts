// Initial setup: token, loopback, concurrency.

import t from 'tap'
import { passwordCounters } from '../../lib/accounts/password.ts'
import { createSetupToken, initialize, setupStatus } from '../../lib/accounts/setup.ts'
import { Conflict, Forbidden, Invalid } from '../../lib/base/errors.ts'
import { bearer, identify, openProcess, openTestAuth, password } from './kit.ts'

const administrator = { username: 'root', email: 'root@example.org', password }
const localOrigin = {
  headers: { host: 'localhost:8080' },
  address: '127.0.0.1',
  setupToken: undefined,
}

t.test('setup creates one administrator, who is signed in, and is not repeated', async t => {
  const { auth } = await openTestAuth(t)
  await createSetupToken(auth.sql)
  t.same(await setupStatus(auth.sql), { setupRequired: true, hasUsers: false })
  await t.rejects(initialize(auth, { ...administrator, password: 'short' }, localOrigin), Invalid)
  const { accessToken, account } = await initialize(auth, administrator, localOrigin)
  t.match(account, { username: 'root', role: 'admin', emailVerified: true })
  t.ok((await identify(auth, bearer(accessToken)))?.permissions.has('SystemAdmin'))
  t.same(await setupStatus(auth.sql), { setupRequired: false, hasUsers: true })
  const hashed = passwordCounters.hashed
  await t.rejects(initialize(auth, { ...administrator, username: 'other' }, localOrigin), Conflict)
  t.equal(passwordCounters.hashed, hashed, 'no password is hashed')
  t.equal((await auth.sql`select from setting where key = 'setup_token'`).length, 0)
})

t.test('of concurrent setups one succeeds', async t => {
  const { auth, url } = await openTestAuth(t)
  const other = await openProcess(t, url)
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) =>
      initialize(
        i % 2 ? auth : other,
        { ...administrator, username: `root${i}`, email: `r${i}@x.org` },
        localOrigin,
      ),
    ),
  )
  t.equal(results.filter(result => result.status === 'fulfilled').length, 1)
  t.ok(results.every(result => result.status === 'fulfilled' || result.reason instanceof Conflict))
  t.equal((await auth.sql`select from account`).length, 1)
})

t.test('requests from other machines require the token', async t => {
  const { auth } = await openTestAuth(t)
  const token = (await createSetupToken(auth.sql))!
  const origins = {
    'another machine': { ...localOrigin, address: '192.0.2.1' },
    'behind a proxy': {
      ...localOrigin,
      headers: { ...localOrigin.headers, 'x-forwarded-for': '192.0.2.1' },
    },
    'a page of another site': {
      ...localOrigin,
      headers: { ...localOrigin.headers, origin: 'https://evil.example.org' },
    },
    'a page of another site by Sec-Fetch-Site': {
      ...localOrigin,
      headers: { ...localOrigin.headers, 'sec-fetch-site': 'cross-site' },
    },
    'DNS rebinding': {
      ...localOrigin,
      headers: { host: 'evil.example.org', origin: 'http://evil.example.org' },
    },
    'no host': { ...localOrigin, headers: {} },
    'a wrong token': { ...localOrigin, setupToken: 'guess' },
  }
  for (const [name, origin] of Object.entries(origins))
    await t.rejects(initialize(auth, administrator, origin), Forbidden, name)
  t.ok(await initialize(auth, administrator, { ...origins['behind a proxy'], setupToken: token }))
})

t.test('loopback addresses are recognized in all notations', async t => {
  for (const [address, host] of [
    ['::1', '[::1]:8080'],
    ['::ffff:127.0.0.1', '127.0.0.1:1'],
    ['127.1.2.3', 'LOCALHOST'],
  ] as const) {
    const { auth } = await openTestAuth(t)
    t.ok(await initialize(auth, administrator, { ...localOrigin, address, headers: { host } }))
  }
})
