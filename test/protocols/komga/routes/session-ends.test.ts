// Sessions of the Komga-compatible API over time: renewal, end, the number of an account; cookies behind a proxy.
import { test } from 'tap'
import { startClientSession } from '../../../../lib/accounts/client-session.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

test('sessions over time', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const get = (base: string, headers: Record<string, string>) =>
    fetch(`${base}/komga/api/v2/users/me`, { headers })
  const cookie = (secret: string) => ({ cookie: `KOMGA-SESSION=${secret}` })
  const start = async () => {
    const secret = await startClientSession(all.sql, {
      identity: { account: admin as never, keyId: null, sessionId: null },
      ...{ days: 7, address: 'test' },
    })
    return secret!
  }

  await t.test('use extends a session', async t => {
    const secret = await start()
    const age = (minutes: number, leftMinutes: number) => all.sql`
      with changed as (
        update client_session set used_at = now() - make_interval(mins => ${minutes}),
          expires_at = now() + make_interval(mins => ${leftMinutes})
        returning session_id, expires_at
      )
      update session n set expires_at = c.expires_at from changed c where n.id = c.session_id`
    // A server that has not identified this session yet.
    const use = async () => {
      const { base } = await all.startAnother()
      const { status } = await get(base, cookie(secret))
      const [left] = await all.sql<{ days: number }[]>`
        select extract(epoch from least(c.expires_at, n.expires_at) - now()) / 86400 as days
        from client_session c join session n on n.id = c.session_id`
      return { status, days: Math.round(Number(left!.days)) }
    }
    await age(30, 60 * 24)
    t.same(await use(), { status: 200, days: 1 }, 'used within the hour: nothing is written')
    await age(61, 60 * 24)
    t.same(await use(), { status: 200, days: 7 })
    await age(61, 60 * 24 * 300)
    t.same(await use(), { status: 200, days: 300 }, 'a remembered one retains its end')
    await age(61, -1)
    t.match(await use(), { status: 401 }, 'one that has ended is not extended')
  })

  await t.test('the least recently used of many ends', async t => {
    const first = await start()
    await all.sql`update client_session set used_at = now() - interval '1 day'`
    const second = await start()
    let last = ''
    for (let i = 0; i < 99; i++) last = await start()
    const [row] = await all.sql`select count(*)::integer as count from client_session`
    t.equal(row!.count, 100)
    const [held] = await all.sql`select count(*)::integer as count from session`
    t.equal(held!.count, 100, 'no row stays of those that ended')
    const statuses = [first, second, last].map(
      async secret => (await get(all.base, cookie(secret))).status,
    )
    t.same(await Promise.all(statuses), [401, 200, 200])
  })

  await t.test('the path of the cookie is that of the public address', async t => {
    const { base } = await all.startAnother({
      settings: { 'application.trusted_proxies': 'loopback', 'rate_limit.enabled': false },
    })
    const key = { 'x-api-key': admin.key }
    const attributes = async (base: string, forwarded: Record<string, string>) =>
      (await get(base, { ...key, ...forwarded })).headers.getSetCookie()[0]!.split('; ').slice(1)
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/library/' }
    t.same(await attributes(base, forwarded), [
      ...['Max-Age=604800', 'Path=/library/komga', 'HttpOnly', 'SameSite=Lax', 'Secure'],
    ])
    const direct = ['Max-Age=604800', 'Path=/komga', 'HttpOnly', 'SameSite=Lax']
    t.same(await attributes(base, {}), direct)
    t.same(await attributes(all.base, forwarded), direct, 'from a proxy that is not trusted')
  })
})
