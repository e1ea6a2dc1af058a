// Requests of a mapping: bodies, credentials, limits.
import { text } from 'node:stream/consumers'
import { type Test, test } from 'tap'
import type { TypedRow } from '../../../lib/sources/open.ts'
import { failing } from '../failing.ts'
import { startFeedServer } from '../feed/server.ts'
import { openTestSources } from '../sources.ts'

const call = { signal: new AbortController().signal }
const searched = { query: 'A "b" & c', limit: 7 }

type Settings = { url?: string; method?: string; body?: unknown; auth?: object; limits?: object }

function rowOf(base: string, settings: Settings, credentials = {}): TypedRow {
  const { url = '/search', method, body, auth, limits } = settings
  const config = {
    search: {
      ...{ url: base + url, items: '$[*]', fields: { externalId: '$.id', title: '$.t' } },
      ...(method && { method }),
      ...(body !== undefined && { body }),
    },
    series: { url: `${base}/series/{{externalId}}`, fields: { metadata: {} } },
    ...(auth && { auth }),
    ...(limits && { limits }),
  }
  const names = { id: '1', name: 'service', displayName: 'Service' }
  return { ...names, type: 'http', config, credentials, description: null }
}

async function startService(t: Test) {
  const received: { method?: string; type?: string; body: string; at: number }[] = []
  const server = await startFeedServer(t, {
    '/search': async (request, response) => {
      const body = await text(request)
      const { method, headers } = request
      received.push({ method: method!, type: headers['content-type']!, body, at: Date.now() })
      response.end('[{"id":1,"t":"A"}]')
    },
    '/moved': (_, response) => void response.writeHead(302, { location: '/search' }).end(),
  })
  const sources = openTestSources(t)
  const open = (settings: Settings, credentials = {}) => {
    const row = rowOf(server.base, settings, credentials)
    sources.checkConfig(row)
    return sources.open(row)
  }
  return { ...server, received, sources, open }
}

test('a body is JSON whose texts are templates', async t => {
  const { open, received } = await startService(t)
  const body = {
    ...{ q: '{{query}}', n: { $number: '{{limit}}' }, list: ['x{{limit}}', 1, true, null] },
    nested: { $number: 5 },
  }
  const hits = await open({ method: 'POST', body }).searchSeries!(searched, call)
  t.match(hits, [{ externalId: '1', title: 'A' }])
  t.match(received, [{ method: 'POST', type: 'application/json' }])
  t.same(JSON.parse(received[0]!.body), {
    ...{ q: 'A "b" & c', n: 7, list: ['x7', 1, true, null] },
    nested: { $number: 5 },
  })
  await open({}).searchSeries!(searched, call)
  t.match(received[1], { method: 'GET', type: undefined, body: '' })
  for (const $number of ['{{query}}', '{{none}}'])
    await t.rejects(
      open({ method: 'POST', body: { $number } }).searchSeries!(searched, call),
      failing({ kind: 'invalid', message: /not a number/ }),
      $number,
    )
  t.equal(received.length, 2, 'nothing is sent')
})

test('a POST request is not redirected', async t => {
  const { open, countOf } = await startService(t)
  const moved = (method?: string) =>
    open({ url: '/moved', ...(method && { method }) }).searchSeries!(searched, call)
  await t.rejects(moved('POST'), failing({ kind: 'status', message: /status 302/ }))
  t.equal(countOf('/search'), 0)
  await moved()
  t.equal(countOf('/search'), 1)
})

test('credentials are sent where the mapping places them', async t => {
  const { open, requests, base } = await startService(t)
  const auth = {
    headers: { authorization: 'Bearer {{token}}', 'x-app': '{{app}}' },
    query: { key: '{{key}}', other: '{{absent}}' },
  }
  const credentials = { token: 't0', key: 'a&b', unused: 'u0' }
  await open({ auth, url: '/search?a=1' }, credentials).searchSeries!(searched, call)
  const [sent] = requests
  t.equal(sent!.path, '/search?a=1&key=a%26b')
  t.equal(sent!.headers.authorization, 'Bearer t0')
  t.notOk('x-app' in sent!.headers, 'an empty value is not sent')
  t.notMatch(JSON.stringify(sent), /u0/)

  const basic = { basic: { username: '{{name}}', password: '{{password}}' } }
  await open({ auth: basic }, { name: 'ana', password: 'p:w' }).searchSeries!(searched, call)
  t.equal(requests[1]!.headers.authorization, `Basic ${btoa('ana:p:w')}`)
  await open({ auth: basic }).searchSeries!(searched, call)
  t.notOk('authorization' in requests[2]!.headers)
  await open({}, { 'X-Key': 'k' }).searchSeries!(searched, call)
  t.equal(requests[3]!.headers['x-key'], 'k', 'without a mapping they are headers')
  t.match(base, /^http:/)
})

test('limits: requests have a pause, and an end for the day', async t => {
  const { open, received } = await startService(t)
  const source = open({ limits: { perMinute: 300, perDay: 3 } })
  await Promise.all([1, 2, 3].map(() => source.searchSeries!(searched, call)))
  const [first, , third] = received
  t.ok(third!.at - first!.at >= 390, `${third!.at - first!.at} ms`)
  const error = await source.searchSeries!(searched, call).catch((thrown: unknown) => thrown)
  t.match(error, { kind: 'limited', message: /accepts no requests until/ })
  const wait = (error as { retryAt: Date }).retryAt.getTime() - Date.now()
  t.ok(wait > 23 * 3_600_000 && wait <= 24 * 3_600_000, `${wait} ms`)
  t.equal(received.length, 3)
})

test('the quota starts again the next day', async t => {
  let now = Date.now()
  const { base } = await startService(t)
  const sources = openTestSources(t, { http: { now: () => now } })
  const source = sources.open(rowOf(base, { limits: { perDay: 1, perMinute: 600 } }))
  await source.searchSeries!(searched, call)
  await t.rejects(source.searchSeries!(searched, call), failing({ kind: 'limited' }))
  now += 24 * 3_600_000
  await t.resolves(source.searchSeries!(searched, call))
})

test('requests that cannot be made are refused with their place', t => {
  const sources = openTestSources(t)
  const deep = JSON.parse(`${'['.repeat(12)}1${']'.repeat(12)}`) as unknown
  const bad: [Settings, RegExp][] = [
    [{ body: { a: 1 } }, /config\.search\.body requires the method POST/],
    [{ method: 'POST', body: { a: ['{{#if'] } }, /config\.search\.body\.a\.0/],
    [{ method: 'POST', body: deep }, /config\.search\.body.* is nested too deeply/],
    [{ method: 'PUT' }, /config\.search\.method/],
    [{ auth: { headers: { host: 'x' } } }, /host/],
    [{ auth: { query: { a: '{{#if' } } }, /config\.auth\.query\.a/],
    [{ limits: { perMinute: 0 } }, /config\.limits\.perMinute/],
  ]
  for (const [settings, message] of bad)
    t.throws(() => sources.checkConfig(rowOf('https://x.example', settings)), {
      name: 'Invalid',
      message,
    })
  t.end()
})
