// Authentication of requests: credentials, cache, invalidation across processes.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { changeAccount, deleteAccount } from '../../lib/accounts/account.ts'
import type { Auth } from '../../lib/accounts/auth.ts'
import { passwordCounters } from '../../lib/accounts/password.ts'
import { signIn } from '../../lib/accounts/session.ts'
import { RateLimited, Unauthorized } from '../../lib/base/errors.ts'
import { newId } from '../../lib/base/id.ts'
import {
  basic,
  bearer,
  createTestAccount,
  createTestKey,
  identify,
  openProcess,
  openTestAuth,
  password,
} from './kit.ts'

/** Number of transactions during `work`. */
async function countStatements(auth: Auth, work: () => Promise<unknown>) {
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

/** Polls until a change has reached another process, at most two minutes. */
async function eventually(check: () => Promise<boolean>) {
  for (let attempts = 6_000; attempts > 0; attempts--) {
    if (await check()) return true
    await sleep(20)
  }
  return false
}
const isRejected = (auth: Auth, headers: Record<string, string>) =>
  identify(auth, headers).then(
    () => false,
    error => error instanceof Unauthorized,
  )

t.test('all kinds of credentials identify the same account', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'Ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key, id: keyId } = await createTestKey(auth.sql, ana.id)
  const requests: [string, Record<string, string>][] = [
    ['token', bearer(accessToken)],
    ['token', { authorization: `bearer   ${accessToken}` }],
    ['cookie', { cookie: `a=b; auth_token=${accessToken}; c=d` }],
    ['key', { 'x-api-key': key }],
    ['key', { 'x-auth-user': key }],
    ['key', bearer(key)],
    ['key', basic('any name', key)],
    ['key', basic(key, '')],
    ['basic', basic('ANA', password)],
    ['basic', basic('ana@EXAMPLE.org', password)],
  ]
  for (const [credentialKind, headers] of requests) {
    t.match(await identify(auth, headers), {
      credentialKind,
      account: { id: ana.id, username: 'Ana', email: 'Ana@example.org', role: 'reader' },
      viewer: { accountId: ana.id, libraries: null, allowedTags: [], ageLimit: null },
      keyId: credentialKind === 'key' ? keyId : null,
    })
  }
  t.equal(await identify(auth, {}), null)
  t.equal(await identify(auth, { cookie: 'other=1' }), null)
})

t.test('a password with umlauts is decoded in all encodings that apps send', async t => {
  const { auth } = await openTestAuth(t)
  const credentials = {
    username: 'jürgen',
    email: 'j@example.org',
    password: 'größer: älter, weiß',
  }
  const { id } = await createTestAccount(auth.sql, credentials)
  const pair = `${credentials.username}:${credentials.password}`
  for (const bytes of [
    Buffer.from(pair),
    Buffer.from(`${credentials.username}:${credentials.password.normalize('NFD')}`),
    Buffer.from(pair, 'latin1'),
  ]) {
    const headers = { authorization: `Basic ${bytes.toString('base64')}` }
    t.match(await identify(auth, headers), { credentialKind: 'basic', account: { id } })
  }
  const other = Buffer.from(pair.replace('ß', 'ss'), 'latin1').toString('base64')
  await t.rejects(identify(auth, { authorization: `Basic ${other}` }), Unauthorized)
})

t.test('an invalid credential is rejected even if a valid one follows', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const { key } = await createTestKey(auth.sql, ana.id)
  const valid = { 'x-api-key': key, 'x-auth-user': key }
  for (const authorization of [
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Digest abc',
    'Basic !!!',
    basic('ana', 'wrong password').authorization,
    basic('unknown', password).authorization,
    basic('unknown\0', password).authorization,
    basic(key, 'anything').authorization,
    basic(
      key.replace(/.$/, last => (last === '0' ? '1' : '0')),
      '',
    ).authorization,
    bearer(`${key.slice(0, -1)}g`).authorization,
    bearer(key.replace(/.$/, last => (last === '0' ? '1' : '0'))).authorization,
    bearer('stackroom_0000000000000000_00000000000000000000000000000000').authorization,
  ])
    await t.rejects(identify(auth, { authorization, ...valid }), Unauthorized, authorization)
  await t.rejects(identify(auth, { 'x-api-key': 'x', 'x-auth-user': key }), Unauthorized)
})

t.test('the cookie is accepted where allowed, but not cross-origin', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const headers = { cookie: `auth_token=${accessToken}`, host: 'books.example.org' }
  const identifyWith = (more: Record<string, string>) => identify(auth, { ...headers, ...more })
  t.ok(await identifyWith({}))
  t.ok(await identifyWith({ 'sec-fetch-site': 'same-origin', origin: 'https://books.example.org' }))
  t.equal(await identifyWith({ 'sec-fetch-site': 'cross-site' }), null)
  t.equal(
    await identifyWith({ 'sec-fetch-site': 'same-site' }),
    null,
    'of another port or subdomain',
  )
  t.equal(await identifyWith({ origin: 'https://evil.example.org' }), null)
  t.equal(await identifyWith({ origin: 'null' }), null)
  t.equal(await auth.identities.identify({ headers, address: '' }), null)
})

t.test('after the first request no password is hashed and the database is not queried', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key } = await createTestKey(auth.sql, ana.id)
  for (const headers of [bearer(accessToken), bearer(key), basic('ana', password)]) {
    await Promise.all(Array.from({ length: 20 }, () => identify(auth, headers)))
    await sleep(20)
    const before = passwordCounters.verified
    const statements = await countStatements(auth, async () => {
      for (let i = 0; i < 200; i++) await identify(auth, headers)
    })
    t.equal(passwordCounters.verified, before)
    t.ok(statements < 20, `${statements} statements`)
  }
})

t.test(
  'concurrent first requests verify the password once, and not again after an account change',
  async t => {
    const { auth } = await openTestAuth(t)
    const ana = await createTestAccount(auth.sql, { username: 'ana' })
    await identify(auth, basic('x', 'creates the decoy hash')).catch(() => {})
    let before = passwordCounters.verified
    await Promise.all(Array.from({ length: 50 }, () => identify(auth, basic('ana', password))))
    t.equal(passwordCounters.verified, before + 1)
    await changeAccount(auth, { id: ana.id }, { permissions: ['books-write'] })
    const again = await identify(auth, basic('ana', password))
    t.ok(again?.permissions.has('BooksWrite'))
    t.equal(passwordCounters.verified, before + 1)
    await changeAccount(auth, { id: ana.id }, { password: 'another password' })
    before = passwordCounters.verified
    await t.rejects(identify(auth, basic('ana', password)), Unauthorized)
    t.equal(passwordCounters.verified, before + 1)
  },
)

t.test('a repeated wrong password is verified once, after the rate limit', async t => {
  const { auth } = await openTestAuth(t)
  const limited: string[] = []
  const headers = basic('unknown', 'guess')
  const attempt = (limit = 5) =>
    auth.identities.identify(
      { headers, address: '192.0.2.7' },
      {
        beforePassword(address, name) {
          limited.push(`${address} ${name}`)
          if (limited.length > limit) throw new RateLimited('slowly', 3)
        },
      },
    )
  await t.rejects(attempt(), Unauthorized)
  const before = passwordCounters.verified
  await t.rejects(attempt(), Unauthorized)
  t.equal(passwordCounters.verified, before, 'the rejection is cached')
  t.same(limited, ['192.0.2.7 unknown'])
  headers.authorization = basic('unknown', 'guess 2').authorization
  await t.rejects(attempt(1), RateLimited)
  t.equal(passwordCounters.verified, before)
})

t.test('a change is effective immediately in this process and soon in others', async t => {
  const { auth, url } = await openTestAuth(t)
  const other = await openProcess(t, url)
  const ana = await createTestAccount(auth.sql, { username: 'ana', role: 'admin' })
  await createTestAccount(auth.sql, { username: 'bea', role: 'admin' })
  const { accessToken } = await signIn(auth, { name: 'ana', password })
  const { key } = await createTestKey(auth.sql, ana.id)
  for (const headers of [bearer(accessToken), bearer(key)]) {
    t.ok((await identify(auth, headers))?.permissions.has('UsersWrite'))
    t.ok((await identify(other, headers))?.permissions.has('UsersWrite'))
  }
  await changeAccount(auth, { id: ana.id }, { role: 'reader', libraryIds: [], ageLimit: 12 })
  for (const headers of [bearer(accessToken), bearer(key)]) {
    t.match(await identify(auth, headers), { viewer: { libraries: [], ageLimit: 12 } })
    t.notOk((await identify(auth, headers))?.permissions.has('UsersWrite'), 'demoted')
    t.ok(
      await eventually(
        async () => !(await identify(other, headers))?.permissions.has('UsersWrite'),
      ),
    )
  }
  await changeAccount(auth, { id: ana.id }, { isActive: false })
  for (const headers of [bearer(accessToken), bearer(key), basic('ana', password)]) {
    await t.rejects(identify(auth, headers), Unauthorized)
    t.ok(await eventually(() => isRejected(other, headers)))
  }
  await changeAccount(auth, { id: ana.id }, { isActive: true })
  t.ok(await identify(auth, bearer(key)))
  await t.rejects(identify(auth, bearer(accessToken)), Unauthorized, 'its session has ended')
  await deleteAccount(auth, ana.id)
  await t.rejects(identify(auth, bearer(key)), Unauthorized)
})

t.test('visibility rules are part of the identity and updated with it', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana', showsUnrated: false })
  const { key } = await createTestKey(auth.sql, ana.id)
  await identify(auth, bearer(key))
  const [allowed, denied] = [newId(), newId()]
  await auth.sql`insert into sharing_tag ${auth.sql([
    { id: allowed, name: 'kids' },
    { id: denied, name: 'gore' },
  ])}`
  const rule = (tag_id: string, mode: string) => ({ id: newId(), account_id: ana.id, tag_id, mode })
  await auth.sql`insert into account_sharing_tag ${auth.sql([rule(allowed, 'allow'), rule(denied, 'deny')])}`
  t.ok(
    await eventually(
      async () => (await identify(auth, bearer(key)))?.viewer.allowedTags.length === 1,
    ),
  )
  t.match(await identify(auth, bearer(key)), {
    viewer: { allowedTags: [allowed], deniedTags: [denied], showsUnrated: false },
  })
  await auth.sql`delete from sharing_tag where id = ${denied}`
  t.ok(
    await eventually(
      async () => (await identify(auth, bearer(key)))?.viewer.deniedTags.length === 0,
    ),
  )
})

t.test('deleted, deactivated, expired and restricted keys take effect', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const { key, id } = await createTestKey(auth.sql, ana.id)
  const becomesInvalid = () => eventually(() => isRejected(auth, bearer(key)))
  const becomesValid = () => eventually(async () => !(await isRejected(auth, bearer(key))))
  t.ok(await becomesValid())
  await auth.sql`update api_key set permissions = '{BooksRead}' where id = ${id}`
  t.ok(await eventually(async () => (await identify(auth, bearer(key)))?.permissions.size === 1))
  await auth.sql`update api_key set is_active = false where id = ${id}`
  t.ok(await becomesInvalid())
  // A busy machine may need longer to use it in time.
  for (const seconds of [0.3, 3, 30]) {
    await auth.sql`
      update api_key set is_active = true, expires_at = now() + make_interval(secs => ${seconds})
      where id = ${id}`
    const end = Date.now() + seconds * 1000
    if (await eventually(async () => !(await isRejected(auth, bearer(key))) || Date.now() > end))
      if (Date.now() < end) break
  }
  t.ok(await becomesInvalid(), 'without a notification')
  await auth.sql`update api_key set expires_at = null where id = ${id}`
  t.ok(await becomesValid())
  await auth.sql`delete from api_key where id = ${id}`
  t.ok(await becomesInvalid())
})

t.test('the last use of a key is stored with a delay', async t => {
  const { auth, url } = await openTestAuth(t)
  const other = await openProcess(t, url)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const { key, id } = await createTestKey(auth.sql, ana.id)
  const used = async () =>
    (
      await auth.sql<[{ at: Date | null }]>`select last_used_at as at from api_key where id = ${id}`
    )[0].at
  const startedAt = Date.now()
  await identify(other, bearer(key))
  t.equal(await used(), null)
  await other.close()
  const first = await used()
  t.ok(first !== null && first.getTime() >= startedAt - 1_000 && first.getTime() <= Date.now())
})

t.test('a lost connection clears the cache', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const { key } = await createTestKey(auth.sql, ana.id)
  t.ok(await identify(auth, bearer(key)))
  await auth.sql.begin(async tx => {
    await tx`
      select pg_terminate_backend(pid) from pg_stat_activity
      where query = 'listen "account"' and datname = current_database()`
    await tx`set local session_replication_role = replica`.catch(() => {})
    await tx`update account set is_active = false where id = ${ana.id}`
  })
  t.ok(await eventually(() => isRejected(auth, bearer(key))))
})
