// Links contain the address at which the client reached the server, behind any reverse proxy.
import { request } from 'node:http'
import { connect } from 'node:net'
import { type Test, test } from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { createTrustProxy } from '../../../lib/http/client/forwarded.ts'
import { startApiWithoutPipeline, type TestApi } from '../../kit/server.ts'

type Headers = Record<string, string>
type Case = {
  name: string
  headers?: Headers
  /** Prefix of the request path that a proxy preserved. */
  prefix?: string
  /** Address of the server in all links. */
  base: string
}

const port = (all: Pick<TestApi, 'base'>) => Number(new URL(all.base).port)

/** Like fetch, but for headers that fetch sets itself. */
function send(all: Pick<TestApi, 'base'>, path: string, headers: Headers = {}) {
  return new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>(
    (resolve, reject) => {
      const outgoing = request({ port: port(all), host: '127.0.0.1', path, headers }, response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => {
          text += part
        })
        response.on('end', () =>
          resolve({ status: response.statusCode!, text, headers: response.headers }),
        )
      })
      outgoing.on('error', reject).end()
    },
  )
}

/** All URLs in a response of either catalog, or of a list of the API (made absolute). */
function addressesIn(text: string, base: string): string[] {
  const xml = [...text.matchAll(/ (?:href|template)="([^"]+)"/g)].map(match => match[1]!)
  const json = [...text.matchAll(/"href":"([^"]+)"/g)].map(match => match[1]!)
  const { origin } = new URL(base)
  const list = [...text.matchAll(/"(?:self|first|last|next)":"([^"]+)"/g)].map(
    match => origin + match[1],
  )
  return [...xml, ...json, ...list]
}

const roots = [
  ['/opds/v1/catalog', '/opds/v1/'],
  ['/opds', '/opds/v1/'],
  ['/opds/v1.2/keep-reading', '/opds/v1.2/'],
  ['/opds/v2', '/opds/v2'],
  ['/opds/v2.0/keep-reading', '/opds/v2.0'],
  ['/api/v1/books', '/api/v1/books?'],
] as const

async function check(
  t: Test,
  all: TestApi & { key: string },
  { name, headers, prefix, base }: Case,
) {
  await t.test(name, async t => {
    for (const [path, below] of roots) {
      const response = await send(all, (prefix ?? '') + path, { ...headers, 'x-api-key': all.key })
      t.equal(response.status, 200, `${prefix ?? ''}${path}`)
      const addresses = addressesIn(response.text, base)
      t.ok(addresses.length > 2)
      t.same(
        addresses.filter(address => !address.startsWith(`${base}/`)),
        [],
        `${path}: all start with ${base}`,
      )
      t.ok(
        addresses.some(address => address.startsWith(base + below)),
        `${path}: links use the same tree`,
      )
      if (path.startsWith('/api')) {
        const path = new URL(base).pathname.replace(/\/$/, '')
        t.match(response.headers.link, `<${path}/api/v1/books?page=1&pageSize=50>; rel="first"`)
      }
    }
    const refused = await send(all, `${prefix ?? ''}/opds/v2`, headers)
    t.equal(refused.status, 401)
    t.match(refused.headers.link, `<${base}/opds/v2/auth>;`)
    t.equal(JSON.parse(refused.text).id, `${base}/opds/v2/auth`)
    const health = await send(all, `${prefix ?? ''}/health`, headers)
    t.equal(health.status, 200, 'other routes work, too')
  })
}

async function open(t: Test, settings: Record<string, unknown>) {
  const all = await startApiWithoutPipeline(t, settings)
  const { key } = await all.createUser('admin')
  return { ...all, key } as never as TestApi & { key: string }
}

test('without trusted proxies only the Host header is used', async t => {
  const all = await open(t, {})
  const own = `http://127.0.0.1:${port(all)}`
  const forged = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-port': '444',
    'x-forwarded-prefix': '/evil',
    forwarded: 'host=evil.example;proto=https',
  }
  const cases: Case[] = [
    { name: 'an address', base: own },
    { name: 'a name', headers: { host: 'books.example.org' }, base: 'http://books.example.org' },
    { name: 'a port', headers: { host: 'books.lan:8443' }, base: 'http://books.lan:8443' },
    { name: 'IPv6', headers: { host: '[2001:db8::7]:90' }, base: 'http://[2001:db8::7]:90' },
    {
      name: 'headers of an untrusted proxy are ignored',
      headers: { host: 'books.lan', ...forged },
      base: 'http://books.lan',
    },
    ...['a b', 'x"><script>', 'evil/', 'user@evil', 'h:99999', '[::g]', ''].map(host => ({
      name: `an invalid Host: ${host}`,
      headers: { host },
      base: own,
    })),
  ]
  for (const testCase of cases) await check(t, all, testCase)

  await t.test('without a Host header the local address is used', async t => {
    const socket = connect(port(all), '127.0.0.1')
    socket.write(`GET /opds/v1/catalog HTTP/1.0\r\nX-API-Key: ${all.key}\r\n\r\n`)
    let text = ''
    for await (const part of socket) text += part
    t.match(text, /^HTTP\/1\.[01] 200/)
    const addresses = addressesIn(text, all.base)
    t.ok(addresses.length > 2)
    t.ok(addresses.every(address => address.startsWith(`${all.base}/opds/`)))
    const absolute = await send(all, `${all.base}/opds/v2?page=1`, { 'x-api-key': all.key })
    t.equal(absolute.status, 200, 'an absolute URL as the request target, as proxies send it')
  })

  await t.test('percent-encoded letters and fragments do not change the route', async t => {
    const headers = { 'x-api-key': all.key }
    const good = [
      '/opds/%761/catalog',
      '/%6Fpds',
      '/opds/v1%2E2/series',
      '/opds/v%32',
      '/opds/v2#x',
    ]
    for (const path of [...good, '/opds/v2.0/keep-reading?page=1#?page=x']) {
      const { status, text } = await send(all, path, headers)
      t.equal(status, 200, path)
      t.ok(addressesIn(text, own).every(address => address.startsWith(`${own}/opds/v`)))
    }
    for (const path of ['/opds/%761/search.xml', '/opds/v%32/auth'])
      t.equal((await send(all, path)).status, 200, `${path} without credentials`)
    const refused = await send(all, '/opds/v%31/series')
    t.equal(refused.status, 401)
    t.match(refused.headers['www-authenticate'], /^Basic /)
    t.match(refused.headers.link, `<${own}/opds/v2/auth>`)
    for (const path of ['/opds/%25761/catalog', '/opds%2Fv2', '/opds/v2%23x'])
      t.equal((await send(all, path, headers)).status, 404, path)
  })

  await t.test('an unexpanded template is a search without words', async t => {
    for (const path of [
      '/opds/v2/search%7B?query%7D',
      '/opds/v2/search{?query}',
      '/opds/v2/search',
    ]) {
      const { status, text } = await send(all, path, { 'x-api-key': all.key })
      t.equal(status, 200, path)
      t.match(JSON.parse(text), { metadata: { title: 'Search', numberOfItems: 0 } })
    }
  })

  await t.test('a request with two Host headers is rejected', async t => {
    const socket = connect(port(all), '127.0.0.1')
    socket.write(
      'GET /opds/v2/auth HTTP/1.1\r\nHost: a.lan\r\nhost: b.lan\r\nConnection: close\r\n\r\n',
    )
    let text = ''
    for await (const part of socket) text += part
    t.match(text, /^HTTP\/1\.1 400/)
    t.notMatch(text, /[ab]\.lan/)
  })
})

test('headers of trusted proxies determine the address', async t => {
  const all = await open(t, { 'application.trusted_proxies': '10.0.0.0/8, 127.0.0.1' })
  const host = { host: '127.0.0.1:1' }
  const forwarded = { ...host, 'x-forwarded-host': 'books.org', 'x-forwarded-proto': 'https' }
  const withPrefix = { ...forwarded, 'x-forwarded-prefix': '/library/' }
  const cases: Case[] = [
    { name: 'no headers', headers: { host: 'books.lan' }, base: 'http://books.lan' },
    { name: 'scheme and host', headers: forwarded, base: 'https://books.org' },
    {
      name: 'only a scheme',
      headers: { host: 'books.lan:8443', 'x-forwarded-proto': 'HTTPS' },
      base: 'https://books.lan:8443',
    },
    {
      name: 'a separate port',
      headers: { ...forwarded, 'x-forwarded-port': '8443' },
      base: 'https://books.org:8443',
    },
    {
      name: 'the default port',
      headers: { ...forwarded, 'x-forwarded-port': '443' },
      base: 'https://books.org',
    },
    {
      name: 'IPv6 with a port',
      headers: { ...forwarded, 'x-forwarded-host': '[::1]', 'x-forwarded-port': '8443' },
      base: 'https://[::1]:8443',
    },
    {
      name: 'several proxies: the nearest',
      headers: {
        ...forwarded,
        'x-forwarded-host': 'evil.example, books.org',
        'x-forwarded-proto': 'http, https',
      },
      base: 'https://books.org',
    },
    {
      name: 'Forwarded',
      headers: { ...host, forwarded: 'for=9.9.9.9;host=evil, for=1.2.3.4;proto=https;host=b.org' },
      base: 'https://b.org',
    },
    {
      name: 'Forwarded in quotes, with a port',
      headers: { ...host, forwarded: 'For="[::2]";Host="[2001:db8::1]:8080"; Proto=http' },
      base: 'http://[2001:db8::1]:8080',
    },
    { name: 'a prefix that was stripped', headers: withPrefix, base: 'https://books.org/library' },
    {
      name: 'a prefix that was preserved',
      headers: withPrefix,
      prefix: '/library',
      base: 'https://books.org/library',
    },
    {
      name: 'a prefix equal to a path of the server, stripped',
      headers: { ...forwarded, 'x-forwarded-prefix': '/opds' },
      base: 'https://books.org/opds',
    },
    {
      name: 'a prefix equal to a path of the server, preserved',
      headers: { ...forwarded, 'x-forwarded-prefix': '/api' },
      prefix: '/api',
      base: 'https://books.org/api',
    },
    {
      name: 'invalid values of trusted proxies are ignored',
      headers: {
        host: 'books.lan',
        'x-forwarded-host': 'a b"',
        'x-forwarded-proto': 'gopher',
        'x-forwarded-port': 'x',
        'x-forwarded-prefix': '//evil.example/"><',
      },
      base: 'http://books.lan',
    },
  ]
  for (const testCase of cases) await check(t, all, testCase)
})

test('the configured public URL takes precedence over headers', async t => {
  const all = await open(t, {
    'application.public_url': 'https://Bücher.example:8443/my/büro/',
    'application.trusted_proxies': 'loopback',
    'api.enable_api_docs': true,
  })
  const base = 'https://xn--bcher-kva.example:8443/my/b%C3%BCro'
  const headers = { host: 'x.lan', 'x-forwarded-host': 'y.lan', 'x-forwarded-prefix': '/z' }
  await check(t, all, { name: 'the path stripped by the proxy', headers, base })
  for (const prefix of ['/my/b%C3%BCro', '/m%79/b%c3%bcro'])
    await check(t, all, {
      name: `the path preserved by the proxy as ${prefix}`,
      headers,
      base,
      prefix,
    })
  for (const path of ['/my/b%C3%BCro', '/my/b%C3%BCro/', '/'])
    t.equal((await send(all, path, headers)).status, 200, `${path}: the web application`)
  t.equal((await send(all, '/my', headers)).status, 404)

  await t.test('the cookie and the API reference use its path', async t => {
    const prefix = '/my/b%C3%BCro'
    const logout = await fetch(`${all.base}${prefix}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { 'x-api-key': all.key },
    })
    t.match(logout.headers.get('set-cookie'), `auth_token=; Max-Age=0; Path=${prefix}; `)
    t.match(logout.headers.get('set-cookie'), /; Secure$/)
    for (const path of [`${prefix}/docs`, '/docs', `${prefix}/docs/static/index.html`]) {
      const page = await fetch(all.base + path, { redirect: 'manual' })
      t.equal(page.headers.get('location'), `${base}/docs/`, path)
    }
    const page = await fetch(`${all.base}${prefix}/docs/`)
    t.equal(page.status, 200)
    const parts = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(
      match => match[1]!,
    )
    t.ok(parts.length > 3)
    for (const part of parts) {
      const { pathname } = new URL(part, `${base}/docs/`)
      t.ok(pathname.startsWith(`${prefix}/docs/`))
      t.equal((await fetch(all.base + pathname)).status, 200, pathname)
    }
    const document = await (await fetch(`${all.base}${prefix}/docs/json`)).json()
    t.match(document, { servers: [{ url: prefix }] })
  })
})

test('an invalid list of proxies is rejected at startup', t => {
  t.throws(() => createTrustProxy('10.0.0.1, books.lan'), Invalid)
  t.equal(createTrustProxy(null)('127.0.0.1', 0), false)
  t.equal(createTrustProxy('::1')('::1', 0), true)
  t.end()
})
