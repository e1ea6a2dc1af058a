// Limits of guessing: rejected credentials count on every route, and attempts count for the account that
// they name, without locking its owner out.
import { hash } from 'argon2'
import { test } from 'tap'
import { createAccount } from '../../lib/accounts/account.ts'
import { resources } from '../../lib/api/resources.ts'
import { endpoints } from '../../lib/http/route.ts'
import { createClient } from '../kit/http/client.ts'
import { stopRefill } from '../kit/http/rate-limit.ts'
import { enableKomga } from '../kit/komga.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'
import { oneIn } from '../kit/suite/sample.ts'

const password = 'correct horse battery'
const wrong = 'not the right one'

/** A new address of a client behind the trusted proxy. */
function* addresses() {
  for (let n = 0; ; n++) yield `198.51.${100 + Math.floor(n / 250)}.${1 + (n % 250)}`
}

test('rejected credentials are counted on every route', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    'rate_limit.anonymous_burst': 2,
    'rate_limit.anonymous_rps': 1,
    'application.trusted_proxies': '127.0.0.1',
  })
  await stopRefill(all.sql)
  const address = addresses()
  const routes = resources.filter(
    route => route.permission !== 'public' && route.method === 'GET' && !route.protocol?.challenge,
  )
  t.ok(routes.some(route => route.bucket === 'exempt'))
  const credentials: Record<string, string>[] = [
    { authorization: 'Bearer wrong' },
    { 'x-api-key': `stackroom_${'0'.repeat(16)}_${'0'.repeat(40)}` },
    {},
  ]
  // All others share their bucket.
  const some = routes.filter((route, i) => route.bucket !== undefined || oneIn(5)(route, i))
  for (const [i, route] of some.entries()) {
    const url = all.base + endpoints(route)[0]!.path.replace(/\{\w+\}/g, 'x')
    const headers = { ...credentials[i % 3], 'x-forwarded-for': address.next().value! }
    const statuses = []
    for (let attempts = 0; attempts < 5; attempts++) {
      const response = await fetch(url, { headers })
      await response.body?.cancel()
      statuses.push(response.status)
    }
    t.ok(statuses.includes(429), `${url} ${JSON.stringify(headers)} ${statuses}`)
    t.equal(statuses[0], 401, url)
  }
})

test('sessions of the Komga API that do not exist are counted like anonymous requests', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    'rate_limit.anonymous_burst': 2,
    'rate_limit.anonymous_rps': 1,
    'application.trusted_proxies': '127.0.0.1',
  })
  await stopRefill(all.sql)
  await enableKomga(await all.createUser('admin'))
  const address = addresses()
  const unknown = 'a'.repeat(43)
  const presented: Record<string, string>[] = [
    { cookie: `KOMGA-SESSION=${unknown}` },
    { cookie: `komga-remember-me=${unknown}` },
    { cookie: 'other=1; KOMGA-SESSION=bogus' },
    { 'x-auth-token': unknown },
    { 'x-auth-token': 'bogus' },
  ]
  const statusesOf = async (sent: Record<string, string>) => {
    const headers = { ...sent, 'x-forwarded-for': address.next().value! }
    const statuses = []
    for (let attempts = 0; attempts < 5; attempts++) {
      const response = await fetch(`${all.base}/komga/api/v1/series`, { headers })
      await response.body?.cancel()
      statuses.push(response.status)
    }
    return statuses
  }
  for (const headers of presented)
    t.same(await statusesOf(headers), [401, 401, 429, 429, 429], JSON.stringify(headers))
  t.same(await statusesOf({}), Array(5).fill(401), 'apps that wait for the challenge')
  t.same(await statusesOf({ 'x-auth-token': '' }), Array(5).fill(401), 'a request for a session')
})

test('attempts are counted for a name from all addresses, and its owner still signs in', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    // Ten times as many for a name from all addresses together.
    'rate_limit.login_burst': 3,
    'rate_limit.login_per_minute': 1,
    'application.trusted_proxies': '127.0.0.1',
  })
  await stopRefill(all.sql)
  await createAccount(all.sql, { username: 'Ana', email: 'ana@example.org', password })
  const signIn = async (from: string, username: string, secret: string) => {
    const body = { username, password: secret }
    const headers = { 'x-forwarded-for': from }
    return (await all.anonymous.post('/auth/login', body, { headers })).status
  }
  const home = '203.0.113.7'
  t.equal(await signIn(home, 'ana', password), 200)
  // Passwords are compared at the cost of the stored hash.
  const cheap = await hash(password, { memoryCost: 1024, timeCost: 2, parallelism: 1 })
  await all.sql`update account set password_hash = ${cheap}`
  const fromOne = []
  for (let i = 0; i < 4; i++) fromOne.push(await signIn('203.0.113.9', 'ana', wrong))
  t.same(fromOne, [401, 401, 429, 429], 'of one address for a name')

  const address = addresses()
  const spellings = ['ana', ' ana ', 'ANA', 'Ana\t']
  const statuses: number[] = []
  for (let i = 0; i < 34; i++)
    statuses.push(await signIn(address.next().value!, spellings[i % 4]!, wrong))
  const admitted = statuses.filter(status => status === 401).length
  t.ok(admitted <= 31, `${admitted} guesses of all addresses, in any spelling`)
  t.equal(statuses.at(-1), 429)
  t.equal(await signIn(address.next().value!, 'ana', password), 429, 'from an unknown address')
  t.equal(await signIn(home, 'ana', password), 200, 'from where the owner has signed in')
  t.equal(await signIn(address.next().value!, 'someone else', wrong), 401, 'other names')
})

test('changes of the own address are counted for the account, from all addresses', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    'application.trusted_proxies': '127.0.0.1',
  })
  await stopRefill(all.sql)
  const { id } = await createAccount(all.sql, {
    username: 'prober',
    email: 'prober@example.org',
    password,
  })
  t.ok(id)
  await createAccount(all.sql, { username: 'other', email: 'other@example.org', password })
  const address = addresses()
  const headers = () => ({
    'content-type': 'application/json',
    'x-forwarded-for': address.next().value!,
  })
  const signedIn = await fetch(`${all.base}/api/v1/auth/login`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ username: 'prober', password }),
  })
  const { accessToken } = (await signedIn.json()) as { accessToken: string }
  const statuses = []
  for (let i = 0; i < 8; i++) {
    const response = await fetch(`${all.base}/api/v1/user`, {
      method: 'PATCH',
      headers: { ...headers(), authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ email: 'other@example.org' }),
    })
    statuses.push(response.status)
    await response.body?.cancel()
  }
  t.same(statuses, [409, 409, 409, 409, 409, 429, 429, 429])
})

test('the own password is changed with the current one, in a few attempts', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    'rate_limit.login_burst': 6,
    'rate_limit.login_per_minute': 1,
  })
  await stopRefill(all.sql)
  const { id } = await createAccount(all.sql, { username: 'ana', role: 'admin', password })
  const { body } = await all.anonymous.post('/auth/login', { username: 'ana', password })
  const ana = createClient(all.base, { authorization: `Bearer ${body.accessToken}` })
  const change = async (changes: object) => (await ana.patch(`/users/${id}`, changes)).status
  t.equal(await change({ ageLimit: null }), 200, 'other changes need none')
  t.equal(await change({ password: 'another password', currentPassword: wrong }), 400)
  t.equal(await change({ password: 'another password', currentPassword: password }), 200)
  t.equal(await change({ password, currentPassword: wrong }), 429)
  t.equal(await change({ ageLimit: null }), 200)
})
