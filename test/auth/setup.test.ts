import t from 'tap'
import { passwordCounters } from '../../lib/auth/password.ts'
import { initialize, setupStatus } from '../../lib/auth/setup.ts'
import { newSetupToken } from '../../lib/auth/setup-token.ts'
import { Conflict, Forbidden, Invalid } from '../../lib/errors.ts'
import { bearer, open, openProcess, password, who } from './kit.ts'

const first = { username: 'root', email: 'root@example.org', password }
const here = { headers: { host: 'localhost:8080' }, address: '127.0.0.1', setupToken: undefined }

t.test('set-up makes one administrator, signed in, and is over', async t => {
  const { auth } = await open(t)
  await newSetupToken(auth.sql)
  t.same(await setupStatus(auth.sql), { setupRequired: true, hasUsers: false })
  await t.rejects(initialize(auth, { ...first, password: 'short' }, here), Invalid)
  const { accessToken, account } = await initialize(auth, first, here)
  t.match(account, { username: 'root', role: 'admin', emailVerified: true })
  t.ok((await who(auth, bearer(accessToken)))?.permissions.has('SystemAdmin'))
  t.same(await setupStatus(auth.sql), { setupRequired: false, hasUsers: true })
  const hashed = passwordCounters.hashed
  await t.rejects(initialize(auth, { ...first, username: 'other' }, here), Conflict)
  t.equal(passwordCounters.hashed, hashed, 'and costs nothing any more')
  t.equal((await auth.sql`select from setting where key = 'setup_token'`).length, 0)
})

t.test('of many who set up at once one wins', async t => {
  const { auth, url } = await open(t)
  const other = await openProcess(t, url)
  const ends = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) =>
      initialize(
        i % 2 ? auth : other,
        { ...first, username: `root${i}`, email: `r${i}@x.org` },
        here,
      ),
    ),
  )
  t.equal(ends.filter(end => end.status === 'fulfilled').length, 1)
  t.ok(ends.every(end => end.status === 'fulfilled' || end.reason instanceof Conflict))
  t.equal((await auth.sql`select from account`).length, 1)
})

t.test('whoever is not on this machine itself must show the token', async t => {
  const { auth } = await open(t)
  const token = (await newSetupToken(auth.sql))!
  const strangers = {
    'another machine': { ...here, address: '192.0.2.1' },
    'behind a proxy': { ...here, headers: { ...here.headers, 'x-forwarded-for': '192.0.2.1' } },
    'a page of another site': {
      ...here,
      headers: { ...here.headers, origin: 'https://evil.example.org' },
    },
    'a page of another site, said so': {
      ...here,
      headers: { ...here.headers, 'sec-fetch-site': 'cross-site' },
    },
    'a name that points here': {
      ...here,
      headers: { host: 'evil.example.org', origin: 'http://evil.example.org' },
    },
    'no host': { ...here, headers: {} },
    'a wrong token': { ...here, setupToken: 'guess' },
  }
  for (const [name, origin] of Object.entries(strangers))
    await t.rejects(initialize(auth, first, origin), Forbidden, name)
  t.ok(await initialize(auth, first, { ...strangers['behind a proxy'], setupToken: token }))
})

t.test('local addresses are known in every form', async t => {
  for (const [address, host] of [
    ['::1', '[::1]:8080'],
    ['::ffff:127.0.0.1', '127.0.0.1:1'],
    ['127.1.2.3', 'LOCALHOST'],
  ] as const) {
    const { auth } = await open(t)
    t.ok(await initialize(auth, first, { ...here, address, headers: { host } }))
  }
})
