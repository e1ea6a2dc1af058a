// Sessions of the Komga-compatible API: cookies, header sessions, remember-me, and their end.
import { test } from 'tap'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

const password = 'correct horse'
const basic = (name: string, secret = password) => ({
  authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
})

test('sessions', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const root = `${all.base}/komga`
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(root + path, { method, headers, redirect: 'manual' })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
      cookies: cookiesOf(response.headers.getSetCookie()),
    }
  }
  const me = '/api/v2/users/me'
  const createReader = async (username: string) => {
    const email = `${username}@example.org`
    const body = { username, email, password }
    const { body: created } = await admin.post('/users', body)
    return { id: created.id as string, username, email }
  }
  const cookie = (value: string | undefined) => ({ cookie: `KOMGA-SESSION=${value}` })

  await t.test('the first success sets the cookie, which then suffices', async t => {
    const { username, email } = await createReader('first')
    for (const name of [username, email, email.toUpperCase()]) {
      const { status, cookies, headers } = await send(me, basic(name))
      t.equal(status, 200, name)
      const attributes = headers.getSetCookie()[0]!.split('; ').slice(1)
      t.same(attributes, ['Max-Age=604800', 'Path=/komga', 'HttpOnly', 'SameSite=Lax'])
      const again = await send(me, cookie(cookies['KOMGA-SESSION']))
      t.equal(again.body.email, email)
      t.same(again.cookies, {}, 'not set again')
    }
    const dropped = await send(me, basic(username))
    const other = await send(me, basic(username))
    t.same(other.cookies, dropped.cookies, 'clients that drop cookies get the same one')
    const key = await send(me, { 'x-api-key': admin.key })
    t.equal((await send(me, cookie(key.cookies['KOMGA-SESSION']))).status, 200, 'of an API key')
    const [stored] = await all.sql`select sha256 from client_session limit 1`
    t.equal(stored!.sha256.length, 32, 'only its digest is stored')
  })

  await t.test('any valid credential is enough', async t => {
    const { username } = await createReader('any')
    const { cookies } = await send(me, basic(username))
    const valid = cookies['KOMGA-SESSION']!
    const stale = 'a'.repeat(43)
    const both = `KOMGA-SESSION=${stale}; KOMGA-SESSION=${valid}; KOMGA-SESSION=foreign`
    t.equal((await send(me, { cookie: both })).status, 200, 'two cookies of one name')
    const beside = await send(me, { ...cookie(stale), 'x-api-key': admin.key })
    t.equal(beside.status, 200, 'a stale cookie beside a valid header')
    t.ok(beside.cookies['KOMGA-SESSION'], 'and a new one is set')
    t.equal((await send(me, { ...cookie(valid), 'x-api-key': 'stackroom_no' })).status, 200)
    const wrong = await send(me, { ...cookie(valid), ...basic('any2', 'wrong password') })
    t.equal(wrong.status, 401, 'a wrong password of another name')
    t.equal((await send(me, cookie(stale))).status, 401)
    t.match((await send(me)).body, {
      ...{ status: 401, error: 'Unauthorized', path: `/komga${me}` },
      timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    })
  })

  await t.test('the challenge is left out for scripts', async t => {
    t.equal((await send(me)).headers.get('www-authenticate'), 'Basic realm="Realm"')
    const script = await send(me, { 'x-requested-with': 'XMLHttpRequest' })
    t.equal(script.headers.get('www-authenticate'), null)
    const feed = await fetch(`${root}/opds/v2`)
    t.match(feed.headers.get('link'), `<${root}/opds/v2/auth>`)
  })

  await t.test('sessions in a header', async t => {
    const { username } = await createReader('header')
    const { headers, cookies } = await send(me, { ...basic(username), 'x-auth-token': '' })
    t.same(cookies, {})
    const token = headers.get('x-auth-token')!
    t.equal((await send(me, { 'x-auth-token': token })).status, 200)
    const set = await send('/api/v1/login/set-cookie', { 'x-auth-token': token })
    t.equal(set.status, 204)
    t.equal(set.cookies['KOMGA-SESSION'], token)
    t.equal((await send(me, cookie(token))).status, 200)
    const chosen = 'A'.repeat(43)
    const fixed = { ...basic(username), 'x-auth-token': chosen }
    const { cookies: none } = await send('/api/v1/login/set-cookie', fixed)
    t.not(none['KOMGA-SESSION'], chosen, 'not a value that is no session')
  })

  await t.test('remember-me, and signing out of both', async t => {
    const { username } = await createReader('remember')
    const { cookies } = await send(`${me}?remember-me=true`, basic(username))
    const remember = `komga-remember-me=${cookies['komga-remember-me']}`
    const repeated = await send(`${me}?remember-me=true`, basic(username))
    t.same(repeated.cookies, cookies, 'an app that drops cookies does not fill the table')
    const restarted = await send(me, { cookie: remember })
    t.equal(restarted.status, 200)
    const session = restarted.cookies['KOMGA-SESSION']!
    const held = { cookie: `${remember}; KOMGA-SESSION=${session}` }
    const foreign = { ...held, 'sec-fetch-site': 'cross-site' }
    t.equal((await send('/api/logout', foreign)).status, 403)
    const out = await send('/api/logout', held, 'POST')
    t.equal(out.status, 204)
    t.same(out.cookies, { 'KOMGA-SESSION': '', 'komga-remember-me': '' })
    t.equal((await send(me, held)).status, 401)
    t.equal((await send(me, cookie(cookies['KOMGA-SESSION']))).status, 200, 'another device')
  })

  await t.test('changes with the cookie come from the same origin', async t => {
    const { username } = await createReader('origin')
    const { cookies } = await send(me, basic(username))
    const held = cookie(cookies['KOMGA-SESSION'])
    const change = async (headers: Record<string, string>) =>
      (await send('/api/v1/syncpoints/me', { ...held, ...headers }, 'DELETE')).status
    const { origin } = new URL(root)
    t.equal(await change({}), 204, 'no browser')
    t.equal(await change({ origin }), 204)
    t.equal(await change({ 'sec-fetch-site': 'same-origin', origin }), 204)
    t.equal(await change({ referer: `${root}/reader` }), 204)
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site', origin },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { referer: 'https://evil.example/' },
    ]
    for (const headers of foreign) t.equal(await change(headers), 403, JSON.stringify(headers))
    t.equal(await change({ ...basic(username), origin: 'https://evil.example' }), 204)
    t.equal((await send(me, { ...held, 'sec-fetch-site': 'cross-site' })).status, 403)
  })

  await t.test('a session ends with its credential', async t => {
    const { id, username } = await createReader('ends')
    const start = async (headers: Record<string, string>) =>
      cookie((await send(me, headers)).cookies['KOMGA-SESSION'])
    const reader = all.withHeaders(basic(username))
    const key = await reader.post('/api-keys', { name: 'app' })
    const byKey = await start({ 'x-api-key': key.body.key })
    const byPassword = await start(basic(username))
    const signIn = await all.anonymous.post('/auth/login', { username, password })
    const bearer = { authorization: `Bearer ${signIn.body.accessToken}` }
    const byToken = await start(bearer)
    const states = async () =>
      Promise.all([byKey, byPassword, byToken].map(async held => (await send(me, held)).status))
    t.same(await states(), [200, 200, 200])
    await reader.delete(`/api-keys/${key.body.id}`)
    t.same(await states(), [401, 200, 200])
    await all.withHeaders(bearer).post('/auth/logout', {})
    t.same(await states(), [401, 200, 401])
    await admin.put(`/users/${id}`, { password: 'another horse' })
    t.same(await states(), [401, 401, 401])
    const renewed = await start(basic(username, 'another horse'))
    t.equal((await send(me, renewed)).status, 200)
    await admin.put(`/users/${id}`, { isActive: false })
    t.equal((await send(me, renewed)).status, 401)
  })
})

const cookiesOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map(line => /^([^=]+)=([^;]*)/.exec(line)!.slice(1) as [string, string]))
