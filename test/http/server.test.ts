// Behaviour common to all requests: errors, caching, rate limits.

import { test } from 'tap'
import { stopRefill } from '../kit/http/rate-limit.ts'
import { sendBytes } from '../kit/http/raw.ts'
import { waitUntil } from '../kit/processes.ts'
import { startApi } from '../kit/server.ts'

test('the server', async t => {
  const all = await startApi(t, {
    'rate_limit.enabled': true,
    'rate_limit.anonymous_burst': 40,
    'rate_limit.anonymous_rps': 1,
  })
  await stopRefill(all.sql)
  const reader = await all.createUser('reader')
  const { anonymous: anyone } = all

  await t.test('health checks', async t => {
    for (const path of [
      '/health',
      '/api/v1/health',
      '/health/live',
      '/health/ready',
      '/health/startup',
    ]) {
      const result = await fetch(all.base + path)
      t.equal(result.status, 200, path)
      t.match(await result.json(), { status: 'ok', version: /^\d/ })
      t.equal(result.headers.get('x-ratelimit-remaining'), '40')
    }
    const head = await fetch(`${all.base}/health`, { method: 'HEAD' })
    t.equal(head.status, 200)
  })

  await t.test('errors have the documented body', async t => {
    const invalid = [
      [await anyone.get('/nothing'), 404, 'NotFound'],
      [await anyone.get('/health/%zz'), 400, 'BadRequest'],
      [await anyone.get('/books'), 401, 'Unauthorized'],
      [await anyone.post('/health', {}), 405, 'MethodNotAllowed'],
      [await reader.get('/books/not-a-uuid'), 404, 'NotFound'],
      [await reader.get('/users'), 403, 'Forbidden'],
      [await reader.get('/books?page=-1'), 400, 'BadRequest'],
      [await reader.get('/books?page=1.5'), 400, 'BadRequest'],
      [
        await reader.get(`/books/${all.anonymous ? '00000000-0000-7000-8000-000000000000' : ''}`),
        404,
        'NotFound',
      ],
      [
        await reader.request('POST', '/books/list', {
          raw: '{"condition":',
          headers: { 'content-type': 'application/json' },
        }),
        400,
        'BadRequest',
      ],
      [
        await reader.request('POST', '/books/list', {
          raw: 'a=b',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
        415,
        'UnsupportedMediaType',
      ],
      [
        await reader.request('POST', '/books/list', {
          raw: '{}',
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        }),
        415,
        'UnsupportedMediaType',
      ],
      [await reader.post('/books/list', { unknown: 1 }), 400, 'BadRequest'],
      [
        await reader.request('POST', '/books/list', {
          raw: `{"fullTextSearch":"${'x'.repeat(1_100_000)}"}`,
          headers: { 'content-type': 'application/json' },
        }),
        413,
        'PayloadTooLarge',
      ],
    ] as const
    for (const [result, status, error] of invalid) {
      t.equal(result.status, status, `${status} ${error}`)
      t.match(result.headers.get('content-type'), /^application\/json/)
      t.same(Object.keys(result.body), ['error', 'message', 'details'])
      t.equal(result.body.error, error)
      t.notMatch(result.body.message, /node_modules|\/work|at Object/)
    }
  })

  const respond = (bytes: string) => sendBytes(Number(new URL(all.base).port), bytes)
  const beforeRouting = [
    ['NONSENSE\r\n\r\n', 400],
    ['GET /api/v1/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
    ['GET /api/v1/books HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['PROPFIND /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
  ] as const

  await t.test('requests that reach no route get the same error body and headers', async t => {
    for (const [bytes, status] of beforeRouting) {
      const response = await respond(bytes)
      const name = bytes.slice(0, 30)
      t.match(response, new RegExp(`^HTTP/1\\.1 ${status} `), name)
      t.match(response, /^x-request-id: [0-9a-f-]{36}\r$/m, name)
      t.match(response, /^x-content-type-options: nosniff\r$/m, name)
      t.match(response, /^x-ratelimit-limit: 40\r$/m, name)
      const body = JSON.parse(response.slice(response.indexOf('\r\n\r\n')))
      t.same(Object.keys(body), ['error', 'message', 'details'], name)
    }
  })

  await t.test('304 for an unchanged response', async t => {
    const first = await reader.get('/books')
    const tag = first.headers.get('etag')
    t.match(tag, /^W\//)
    const again = await reader.get('/books', { headers: { 'if-none-match': tag! } })
    t.equal(again.status, 304)
    t.equal(again.bytes.length, 0)
    t.match(first.headers.get('cache-control'), /private/)
    // Caches must know it from each of them: another client may ask for the same with gzip.
    for (const { headers } of [first, again]) {
      const names = headers.get('vary')!.toLowerCase().split(', ')
      t.equal(names.filter(name => name === 'accept-encoding').length, 1)
    }
  })

  await t.test('anonymous requests are limited by address, others by account', async t => {
    const responses = await Promise.all(Array.from({ length: 60 }, () => anyone.get('/books')))
    const limited = responses.filter(a => a.status === 429)
    t.ok(limited.length > 0, 'the anonymous bucket is exhausted')
    const [one] = limited
    t.equal(one!.body.error, 'rate_limit_exceeded')
    t.ok(Number(one!.headers.get('retry-after')) >= 1)
    t.equal(one!.body.retry_after, Number(one!.headers.get('retry-after')))
    t.equal(one!.headers.get('x-ratelimit-limit'), '40')
    t.equal((await reader.get('/books')).status, 200, 'an authenticated user has another bucket')
    t.equal((await reader.get('/books')).headers.get('x-ratelimit-limit'), '200')
    t.equal((await fetch(`${all.base}/health`)).status, 200, 'health is exempt')
    const forged = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const headers = { authorization: `Bearer x.y.${i}`, 'x-forwarded-for': `9.9.9.${i}` }
        return (await anyone.get('/books', { headers })).status
      }),
    )
    t.ok(forged.includes(429), 'a forged token or address gets no new bucket')
    for (const [bytes] of beforeRouting) {
      const responses = await Promise.all(Array.from({ length: 20 }, () => respond(bytes)))
      t.ok(
        responses.some(response => /^HTTP\/1\.1 429 [\s\S]*\r\nretry-after: /.test(response)),
        bytes.slice(0, 30),
      )
    }
  })
})

test('a statement timeout is 503', async t => {
  const all = await startApi(t)
  const reader = await all.createUser('reader')
  const result = await all.sql.begin(async tx => {
    await tx`lock table series in access exclusive mode`
    const pending = fetch(`${all.base}/api/v1/series/00000000-0000-7000-8000-000000000000`, {
      headers: { 'x-api-key': reader.key },
    })
    // As statement_timeout does.
    const breakOff = () => all.sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%series%'`
    await waitUntil(async () => (await breakOff()).length > 0)
    return await pending
  })
  t.equal(result.status, 503)
  t.match(await result.json(), { error: 'ServiceUnavailable', message: /took too long/ })
  t.equal((await reader.get('/series')).status, 200)
})
