// Polls of a real feed server: validators, limits, encodings, redirects, back-off, hostile answers.
import { gzipSync } from 'node:zlib'
import { test } from 'tap'
import { failing } from '../failing.ts'
import { openTestSources } from '../sources.ts'
import { feedRow, type Handler, rss, rssItem, startFeedServer } from './server.ts'

const call = { signal: new AbortController().signal }
const query = { key: 'feed', cursor: null, series: [] }
const good = rss(rssItem(1) + rssItem(2))

const answering =
  (body: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_, response) => {
    response.writeHead(200, headers).end(body)
  }

test('feeds are polled only when they have changed', async t => {
  let body = good
  const server = await startFeedServer(t, {
    '/etag'(request, response) {
      const etag = `"${body.length}"`
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else response.writeHead(200, { etag }).end(body)
    },
    '/date'(request, response) {
      const date = 'Mon, 06 Sep 2021 00:01:00 GMT'
      if (request.headers['if-modified-since'] === date) response.writeHead(304).end()
      else response.writeHead(200, { 'last-modified': date }).end(good)
    },
    '/neither': (_, response) => void response.end(good),
  })
  const sources = openTestSources(t)
  for (const path of ['/etag', '/date', '/neither']) {
    const source = sources.open(feedRow(server.base + path))
    const first = await source.listReleases!(query, call)
    t.equal(first.items.length, 2, path)
    const second = await source.listReleases!({ ...query, cursor: first.cursor }, call)
    t.match(second, { items: [], isLast: true, summary: 'Not modified' }, path)
    const again = await source.listReleases!({ ...query, cursor: second.cursor }, call)
    t.equal(again.summary, 'Not modified', 'the cursor of an unchanged feed is still one')
    const repeated = await source.listReleases!(query, call)
    t.equal(repeated.items.length, 2, 'without a cursor all items come again')
  }

  const source = sources.open(feedRow(`${server.base}/etag`))
  const { cursor } = await source.listReleases!(query, call)
  body = rss(rssItem(1) + rssItem(2) + rssItem(3))
  const changed = await source.listReleases!({ ...query, cursor }, call)
  t.equal(changed.items.length, 3)

  const ruled = sources.open(feedRow(`${server.base}/etag`, { exclude: ['Series 2'] }))
  const { items, summary } = await ruled.listReleases!({ ...query, cursor: changed.cursor }, call)
  t.equal(items.length, 2, 'new rules read an unchanged feed again')
  t.match(summary, '1 excluded')
})

test('every answer of a server ends as it should', async t => {
  const big = Buffer.alloc(20 * 1024 * 1024, rss(rssItem(1)))
  const items = Array.from({ length: 1_000 }, (_, i) => rssItem(i)).join('')
  const handlers: Record<string, Handler> = {
    '/gzip': answering(gzipSync(good), { 'content-encoding': 'gzip' }),
    '/utf16': answering(Buffer.from(`\ufeff${good.replace('UTF-8', 'UTF-16')}`, 'utf16le')),
    '/latin1': answering(
      Buffer.from(
        rss(rssItem(1, 'Astérix v01') + rssItem(2)).replace('UTF-8', 'ISO-8859-1'),
        'latin1',
      ),
    ),
    '/redirect': (_, response) => void response.writeHead(302, { location: '/moved' }).end(),
    '/moved': (_, response) => void response.writeHead(308, { location: '/gzip' }).end(),
    '/loop': (_, response) => void response.writeHead(301, { location: '/loop' }).end(),
    '/thread': answering(rss(items)),
    '/thread-invalid': answering(rss(items).slice(0, -20)),
    '/big': answering(big),
    '/big-chunked': (_, response) => {
      response.writeHead(200)
      response.write(big.subarray(0, big.length / 2))
      response.end(big.subarray(big.length / 2))
    },
    '/bomb': answering(gzipSync(Buffer.alloc(100 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
    '/zstd': answering('x', { 'content-encoding': 'zstd' }),
    '/not-gzip': answering(good, { 'content-encoding': 'gzip' }),
    '/half-gzip': answering(gzipSync(good).subarray(0, 100), { 'content-encoding': 'gzip' }),
    '/half': (_, response) => {
      response.writeHead(200, { 'content-length': good.length })
      response.write(good.slice(0, 300), () => response.destroy())
    },
    '/invalid': answering('<rss version="2.0"><channel><item><title>x</channel></rss>'),
    '/html': answering('<!doctype html><title>Sign in</title>'),
    '/empty': answering(''),
    '/entities': answering(
      `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>${rss(rssItem(1, '&b; v01')).slice(38)}`,
    ),
    '/500': (_, response) => void response.writeHead(500).end(),
    '/reset': request => void request.socket.destroy(),
  }
  const server = await startFeedServer(t, handlers)
  const outcomes: Record<string, string | number> = {
    '/gzip': 2,
    '/utf16': 2,
    '/latin1': 2,
    '/redirect': 2,
    '/loop': 'status',
    '/thread': 1_000,
    '/thread-invalid': 'invalid',
    '/big': 'too_large',
    '/big-chunked': 'too_large',
    '/bomb': 'too_large',
    '/zstd': 'invalid',
    '/not-gzip': 'unreachable',
    '/half-gzip': 'unreachable',
    '/half': 'unreachable',
    '/invalid': 'invalid',
    '/html': 'invalid',
    '/empty': 'invalid',
    '/500': 'status',
    '/reset': 'unreachable',
    '/absent': 'status',
  }
  const sources = openTestSources(t)
  for (const [path, expected] of Object.entries(outcomes)) {
    const poll = sources.open(feedRow(server.base + path)).listReleases!(query, call)
    if (typeof expected === 'number') t.equal((await poll).items.length, expected, path)
    else {
      const error = await poll.catch((error: unknown) => error)
      t.match(error, failing({ name: 'SourceFailure', kind: expected }), path)
      t.notMatch((error as Error).message, path, 'paths may have credentials')
    }
  }
  const latin1 = await sources.open(feedRow(`${server.base}/latin1`)).listReleases!(query, call)
  t.equal(latin1.items[0]!.title, 'Astérix v01')
  const entities = sources.open(feedRow(`${server.base}/entities`)).listReleases!(query, call)
  const titles = await entities.then(
    page => page.items.map(item => item.title).join(),
    error => error.message,
  )
  t.notMatch(titles, /aaaa|root:/, 'entities of a doctype are not expanded')
})

test('a server that hangs costs a time-out', async t => {
  const server = await startFeedServer(t, {
    '/silent': () => {},
    '/stops': (_, response) => void response.writeHead(200).write('<rss version="2.0">'),
  })
  const sources = openTestSources(t, { http: { limits: { headersMs: 200, idleMs: 200 } } })
  for (const path of ['/silent', '/stops'])
    await t.rejects(
      sources.open(feedRow(server.base + path)).listReleases!(query, call),
      failing({ kind: 'timeout' }),
      path,
    )
  const patient = openTestSources(t)
  const stop = new AbortController()
  const poll = patient.open(feedRow(`${server.base}/silent`)).listReleases!(query, stop)
  setTimeout(() => stop.abort(new Error('the server ends')), 50)
  await t.rejects(poll, { message: 'the server ends' }, 'a caller can stop it')
})

test('a host that wants fewer requests gets none', async t => {
  let status = 429
  let headers: Record<string, string> = { 'retry-after': '600' }
  const server = await startFeedServer(t, {
    '/limited': (_, response) => {
      response.writeHead(status, headers).end(good)
    },
    '/other': (_, response) => void response.end(good),
  })
  let now = Date.UTC(2026, 0, 1)
  const sources = openTestSources(t, { http: { now: () => now } })
  const poll = (path = '/limited') =>
    sources.open(feedRow(server.base + path)).listReleases!(query, call)
  const retryAt = (ms: number) => failing({ kind: 'limited', retryAt: new Date(now + ms) })

  await t.rejects(poll(), retryAt(600_000), 'seconds')
  await t.rejects(poll('/other'), retryAt(600_000), 'all feeds of the host wait')
  t.equal(server.requests.length, 1)
  now += 600_001
  headers = { 'retry-after': new Date(now + 120_000).toUTCString() }
  status = 503
  await t.rejects(poll(), failing({ kind: 'limited' }), 'a date')
  now += 120_001
  headers = {}
  const waits: number[] = []
  for (let i = 0; i < 5; i++) {
    const error = (await poll().catch((error: unknown) => error)) as { retryAt: Date }
    waits.push((error.retryAt.getTime() - now) / 60_000)
    now = error.retryAt.getTime() + 1
  }
  t.same(waits, [4, 8, 16, 16, 16], 'without a time the pause doubles up to sixteen minutes')
  status = 200
  t.equal((await poll()).items.length, 2)
  status = 429
  await t.rejects(poll(), retryAt(60_000), 'a success ends the series')
})

test('credentials are sent to the host of the feed only', async t => {
  const other = await startFeedServer(t, { '/feed': (_, response) => void response.end(good) })
  const server = await startFeedServer(t, {
    '/feed': (_, response) => void response.end(good),
    '/away': (_, response) => {
      response.writeHead(302, { location: `${other.base}/feed` }).end()
    },
  })
  const sources = openTestSources(t)
  const credentials = { 'X-Api-Key': 'secret' }
  for (const path of ['/feed', '/away'])
    await sources.open(feedRow(server.base + path, {}, credentials)).listReleases!(query, call)
  for (const { headers } of server.requests) {
    t.equal(headers['x-api-key'], 'secret')
    t.match(headers['user-agent'], /^Stackroom\/\d/)
  }
  t.equal(other.requests[0]!.headers['x-api-key'], undefined)
})
