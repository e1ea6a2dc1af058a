// Requests of web pages of other origins.
import { test } from 'tap'
import { startApiWithoutPipeline } from '../kit/server.ts'

const [one, two, other] = ['one', 'two', 'other'].map(name => `https://${name}.example`)

test('cross-origin requests', async t => {
  const all = await startApiWithoutPipeline(t)
  const { key } = await all.createUser('reader')
  const start = async (origins: string, isEnabled = true) => {
    const settings = { 'api.cors_enabled': isEnabled, 'api.cors_origins': origins }
    return (await all.startAnother({ settings })).base
  }
  const answer = async (base: string, origin: string, method = 'GET') => {
    const preflight = {
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'x-api-key, if-match',
    }
    const response = await fetch(`${base}/api/v1/series`, {
      method,
      headers: { origin, ...(method === 'OPTIONS' ? preflight : { 'x-api-key': key }) },
    })
    const of = (name: string) => response.headers.get(`access-control-${name}`)
    return { status: response.status, origin: of('allow-origin'), of }
  }

  await t.test('any origin reads answers, without cookies', async t => {
    const base = await start('*')
    const { status, origin, of } = await answer(base, other!)
    t.same([status, origin, of('allow-credentials')], [200, '*', null])
    for (const name of ['link', 'etag', 'retry-after', 'x-ratelimit-remaining', 'content-range'])
      t.ok(of('expose-headers')?.split(', ').includes(name), name)
    const preflight = await answer(base, other!, 'OPTIONS')
    t.same([preflight.status, preflight.origin], [204, '*'])
    t.match(preflight.of('allow-methods'), /\bPATCH\b/)
    for (const name of ['authorization', 'x-api-key', 'if-match', 'last-event-id', 'range'])
      t.ok(preflight.of('allow-headers')?.split(', ').includes(name), name)
    t.equal(preflight.of('max-age'), '600')
    const bare = await fetch(`${base}/api/v1/series`, { method: 'OPTIONS' })
    t.equal(bare.status, 204, 'without Origin it queries the methods')
  })

  await t.test('named origins may also send cookies', async t => {
    const base = await start(`${one}, ${two}`)
    for (const origin of [one!, two!])
      for (const method of ['GET', 'OPTIONS']) {
        const allowed = await answer(base, origin, method)
        t.same([allowed.origin, allowed.of('allow-credentials')], [origin, 'true'], method)
      }
    t.equal((await answer(base, other!)).origin, null)
    t.equal((await answer(base, other!, 'OPTIONS')).origin, null)
  })

  await t.test('no origin if it is disabled', async t => {
    t.equal((await answer(await start('*', false), other!)).origin, null)
  })
})
