import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { changeAccount, removeAccount } from '../../lib/auth/account.ts'
import type { Auth } from '../../lib/auth/auth.ts'
import { passwordCounters } from '../../lib/auth/password.ts'
import { signIn } from '../../lib/auth/session.ts'
import { Limited, Unauthorized } from '../../lib/errors.ts'
import { newId } from '../../lib/id.ts'
import { basic, bearer, keyFor, open, openProcess, password, person, who } from './kit.ts'

/** How many statements run while `work` does. */
async function statements(auth: Auth, work: () => Promise<unknown>) {
  const count = async () =>
    (
      await auth.sql<[{ n: number }]>`
      select xact_commit::int as n from pg_stat_database where datname = current_database()`
    )[0].n
  await auth.sql`select pg_stat_force_next_flush()`.catch(() => {})
  const before = await count()
  await work()
  return (await count()) - before
}

/** Until another process has heard of it; a second at most. */
async function soon(check: () => Promise<boolean>) {
  for (let left = 500; left > 0; left--) {
    if (await check()) return true
    await sleep(20)
  }
  return false
}
const isRefused = (auth: Auth, headers: Record<string, string>) =>
  who(auth, headers).then(
    () => false,
    error => error instanceof Unauthorized,
  )

t.test('every way of saying who one is leads to the same account', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'Ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key, id: keyId } = await keyFor(auth.sql, ana.id)
  const ways: [string, Record<string, string>][] = [
    ['token', bearer(accessToken)],
    ['token', { authorization: `bearer   ${accessToken}` }],
    ['cookie', { cookie: `a=b; auth_token=${accessToken}; c=d` }],
    ['key', { 'x-api-key': key }],
    ['key', { 'x-auth-user': key }],
    ['key', bearer(key)],
    ['key', basic('whoever', key)],
    ['key', basic(key, '')],
    ['basic', basic('ANA', password)],
    ['basic', basic('ana@EXAMPLE.org', password)],
  ]
  for (const [means, headers] of ways) {
    t.match(await who(auth, headers), {
      means,
      account: { id: ana.id, username: 'Ana', email: 'Ana@example.org', role: 'reader' },
      viewer: { accountId: ana.id, libraries: null, allowedTags: [], ageLimit: null },
      keyId: means === 'key' ? keyId : null,
    })
  }
  t.equal(await who(auth, {}), null)
  t.equal(await who(auth, { cookie: 'other=1' }), null)
})

t.test('a password with umlauts is understood as apps send it', async t => {
  const { auth } = await open(t)
  const said = { username: 'jürgen', email: 'j@example.org', password: 'größer: älter, weiß' }
  const { id } = await person(auth.sql, said)
  const pair = `${said.username}:${said.password}`
  for (const bytes of [
    Buffer.from(pair),
    Buffer.from(`${said.username}:${said.password.normalize('NFD')}`),
    Buffer.from(pair, 'latin1'),
  ]) {
    const headers = { authorization: `Basic ${bytes.toString('base64')}` }
    t.match(await who(auth, headers), { means: 'basic', account: { id } })
  }
  const other = Buffer.from(pair.replace('ß', 'ss'), 'latin1').toString('base64')
  await t.rejects(who(auth, { authorization: `Basic ${other}` }), Unauthorized)
})

t.test('a bad credential is refused even if a good one follows', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const { key } = await keyFor(auth.sql, ana.id)
  const good = { 'x-api-key': key, 'x-auth-user': key }
  for (const authorization of [
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Digest abc',
    'Basic !!!',
    basic('ana', 'wrong password').authorization,
    basic('nobody', password).authorization,
    basic('nobody\0', password).authorization,
    basic(key, 'anything').authorization,
    basic(
      key.replace(/.$/, last => (last === '0' ? '1' : '0')),
      '',
    ).authorization,
    bearer(`${key.slice(0, -1)}g`).authorization,
    bearer(key.replace(/.$/, last => (last === '0' ? '1' : '0'))).authorization,
    bearer('stackroom_0000000000000000_00000000000000000000000000000000').authorization,
  ])
    await t.rejects(who(auth, { authorization, ...good }), Unauthorized, authorization)
  await t.rejects(who(auth, { 'x-api-key': 'x', 'x-auth-user': key }), Unauthorized)
})

t.test('the cookie counts where it may, and not for pages of other sites', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const headers = { cookie: `auth_token=${accessToken}`, host: 'books.example.org' }
  const ask = (more: Record<string, string>) => who(auth, { ...headers, ...more })
  t.ok(await ask({}))
  t.ok(await ask({ 'sec-fetch-site': 'same-origin', origin: 'https://books.example.org' }))
  t.equal(await ask({ 'sec-fetch-site': 'cross-site' }), null)
  t.equal(await ask({ origin: 'https://evil.example.org' }), null)
  t.equal(await ask({ origin: 'null' }), null)
  t.equal(await auth.identities.identify({ headers, address: '' }), null)
})

t.test('after the first request neither a password is hashed nor the database asked', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key } = await keyFor(auth.sql, ana.id)
  for (const headers of [bearer(accessToken), bearer(key), basic('ana', password)]) {
    await Promise.all(Array.from({ length: 20 }, () => who(auth, headers)))
    await sleep(20)
    const before = passwordCounters.verified
    const asked = await statements(auth, async () => {
      for (let i = 0; i < 200; i++) await who(auth, headers)
    })
    t.equal(passwordCounters.verified, before)
    t.ok(asked < 20, `${asked} statements`)
  }
})

t.test(
  'many first requests at once compare the password once, and a changed account not again',
  async t => {
    const { auth } = await open(t)
    const ana = await person(auth.sql, { username: 'ana' })
    await who(auth, basic('x', 'warms the decoy up')).catch(() => {})
    let before = passwordCounters.verified
    await Promise.all(Array.from({ length: 50 }, () => who(auth, basic('ana', password))))
    t.equal(passwordCounters.verified, before + 1)
    await changeAccount(auth, { id: ana.id }, { permissions: ['books-write'] })
    const again = await who(auth, basic('ana', password))
    t.ok(again?.permissions.has('BooksWrite'))
    t.equal(passwordCounters.verified, before + 1)
    await changeAccount(auth, { id: ana.id }, { password: 'another password' })
    before = passwordCounters.verified
    await t.rejects(who(auth, basic('ana', password)), Unauthorized)
    t.equal(passwordCounters.verified, before + 1)
  },
)

t.test('a wrong password again and again is compared once, and pays before it is', async t => {
  const { auth } = await open(t)
  const asked: string[] = []
  const headers = basic('nobody', 'guess')
  const attempt = (limit = 5) =>
    auth.identities.identify(
      { headers, address: '192.0.2.7' },
      {
        beforePassword(address, name) {
          asked.push(`${address} ${name}`)
          if (asked.length > limit) throw new Limited('slowly', 3)
        },
      },
    )
  await t.rejects(attempt(), Unauthorized)
  const before = passwordCounters.verified
  await t.rejects(attempt(), Unauthorized)
  t.equal(passwordCounters.verified, before, 'an unknown name is remembered for a while')
  t.same(asked, ['192.0.2.7 nobody'])
  headers.authorization = basic('nobody', 'guess 2').authorization
  await t.rejects(attempt(1), Limited)
  t.equal(passwordCounters.verified, before)
})

t.test('a change is seen at once here and within moments by another process', async t => {
  const { auth, url } = await open(t)
  const other = await openProcess(t, url)
  const ana = await person(auth.sql, { username: 'ana', role: 'admin' })
  await person(auth.sql, { username: 'bea', role: 'admin' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key } = await keyFor(auth.sql, ana.id)
  for (const headers of [bearer(accessToken), bearer(key)]) {
    t.ok((await who(auth, headers))?.permissions.has('UsersWrite'))
    t.ok((await who(other, headers))?.permissions.has('UsersWrite'))
  }
  await changeAccount(auth, { id: ana.id }, { role: 'reader', libraryIds: [], ageLimit: 12 })
  for (const headers of [bearer(accessToken), bearer(key)]) {
    t.match(await who(auth, headers), { viewer: { libraries: [], ageLimit: 12 } })
    t.notOk((await who(auth, headers))?.permissions.has('UsersWrite'), 'demoted')
    t.ok(await soon(async () => !(await who(other, headers))?.permissions.has('UsersWrite')))
  }
  await changeAccount(auth, { id: ana.id }, { isActive: false })
  for (const headers of [bearer(accessToken), bearer(key), basic('ana', password)]) {
    await t.rejects(who(auth, headers), Unauthorized)
    t.ok(await soon(() => isRefused(other, headers)))
  }
  await changeAccount(auth, { id: ana.id }, { isActive: true })
  t.ok(await who(auth, bearer(key)))
  await t.rejects(who(auth, bearer(accessToken)), Unauthorized, 'its session is over')
  await removeAccount(auth, ana.id)
  await t.rejects(who(auth, bearer(key)), Unauthorized)
})

t.test('rules that restrict what is seen come with the identity and change with it', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana', showsUnrated: false })
  const { key } = await keyFor(auth.sql, ana.id)
  await who(auth, bearer(key))
  const [allowed, denied] = [newId(), newId()]
  await auth.sql`insert into sharing_tag ${auth.sql([
    { id: allowed, name: 'kids' },
    { id: denied, name: 'gore' },
  ])}`
  const rule = (tag_id: string, mode: string) => ({ id: newId(), account_id: ana.id, tag_id, mode })
  await auth.sql`insert into account_sharing_tag ${auth.sql([rule(allowed, 'allow'), rule(denied, 'deny')])}`
  t.ok(await soon(async () => (await who(auth, bearer(key)))?.viewer.allowedTags.length === 1))
  t.match(await who(auth, bearer(key)), {
    viewer: { allowedTags: [allowed], deniedTags: [denied], showsUnrated: false },
  })
  await auth.sql`delete from sharing_tag where id = ${denied}`
  t.ok(await soon(async () => (await who(auth, bearer(key)))?.viewer.deniedTags.length === 0))
})

t.test('keys end when they are revoked, put off, over, or cut down', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const { key, id } = await keyFor(auth.sql, ana.id)
  const refused = () => soon(() => isRefused(auth, bearer(key)))
  const welcome = () => soon(async () => !(await isRefused(auth, bearer(key))))
  t.ok(await welcome())
  await auth.sql`update api_key set permissions = '{BooksRead}' where id = ${id}`
  t.ok(await soon(async () => (await who(auth, bearer(key)))?.permissions.size === 1))
  await auth.sql`update api_key set is_active = false where id = ${id}`
  t.ok(await refused())
  await auth.sql`update api_key set is_active = true, expires_at = now() + interval '0.3 s' where id = ${id}`
  t.ok(await welcome())
  t.ok(await refused(), 'without being told')
  await auth.sql`update api_key set expires_at = null where id = ${id}`
  t.ok(await welcome())
  await auth.sql`delete from api_key where id = ${id}`
  t.ok(await refused())
})

t.test('the use of a key is written down, in a while', async t => {
  const { auth, url } = await open(t)
  const other = await openProcess(t, url)
  const ana = await person(auth.sql, { username: 'ana' })
  const { key, id } = await keyFor(auth.sql, ana.id)
  const used = async () =>
    (
      await auth.sql<[{ at: Date | null }]>`select last_used_at as at from api_key where id = ${id}`
    )[0].at
  await who(other, bearer(key))
  t.equal(await used(), null)
  await other.close()
  const first = await used()
  t.ok(first !== null && Date.now() - first.getTime() < 5000)
})

t.test('a process that lost its connection believes nothing it remembers', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const { key } = await keyFor(auth.sql, ana.id)
  t.ok(await who(auth, bearer(key)))
  await auth.sql.begin(async tx => {
    await tx`
      select pg_terminate_backend(pid) from pg_stat_activity
      where query = 'listen "account"' and datname = current_database()`
    await tx`set local session_replication_role = replica`.catch(() => {})
    await tx`update account set is_active = false where id = ${ana.id}`
  })
  t.ok(await soon(() => isRefused(auth, bearer(key))))
})
