// Links lead back to where the client found the server, whatever stands before it.
import { request } from 'node:http'
import { connect } from 'node:net'
import { type Test, test } from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { trust } from '../../lib/http/forwarded.ts'
import { type Served, serveAlone } from '../kit/server.ts'

type Headers = Record<string, string>
type Case = {
  name: string
  headers?: Headers
  /** What stands before the path that is sent: a proxy left it there. */
  sent?: string
  /** Address of the server in all links. */
  base: string
}

const port = (all: Pick<Served, 'base'>) => Number(new URL(all.base).port)

/** Like fetch, but for headers that fetch sets itself. */
function ask(all: Pick<Served, 'base'>, path: string, headers: Headers = {}) {
  return new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>(
    (resolve, reject) => {
      const asked = request({ port: port(all), host: '127.0.0.1', path, headers }, answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', part => {
          text += part
        })
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, text, headers: answer.headers }),
        )
      })
      asked.on('error', reject).end()
    },
  )
}

/** Every address in an answer of either catalogue, and of a list of the API made absolute. */
function addressesIn(text: string, base: string): string[] {
  const xml = [...text.matchAll(/ (?:href|template)="([^"]+)"/g)].map(m => m[1]!)
  const json = [...text.matchAll(/"href":"([^"]+)"/g)].map(m => m[1]!)
  const { origin } = new URL(base)
  const list = [...text.matchAll(/"(?:self|first|last|next)":"([^"]+)"/g)].map(m => origin + m[1])
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

async function check(t: Test, all: Served & { key: string }, { name, headers, sent, base }: Case) {
  await t.test(name, async t => {
    for (const [path, below] of roots) {
      const answer = await ask(all, (sent ?? '') + path, { ...headers, 'x-api-key': all.key })
      t.equal(answer.status, 200, `${sent ?? ''}${path}`)
      const addresses = addressesIn(answer.text, base)
      t.ok(addresses.length > 2)
      t.same(
        addresses.filter(address => !address.startsWith(`${base}/`)),
        [],
        `${path}: all below ${base}`,
      )
      t.ok(
        addresses.some(address => address.startsWith(base + below)),
        `${path} stays in its tree`,
      )
      if (path.startsWith('/api')) {
        const path = new URL(base).pathname.replace(/\/$/, '')
        t.match(answer.headers.link, `<${path}/api/v1/books?page=1&pageSize=50>; rel="first"`)
      }
    }
    const refused = await ask(all, `${sent ?? ''}/opds/v2`, headers)
    t.equal(refused.status, 401)
    t.match(refused.headers.link, `<${base}/opds/v2/auth>;`)
    t.equal(JSON.parse(refused.text).id, `${base}/opds/v2/auth`)
    const health = await ask(all, `${sent ?? ''}/health`, headers)
    t.equal(health.status, 200, 'what else there is is there as well')
  })
}

async function open(t: Test, settings: Record<string, unknown>) {
  const all = await serveAlone(t, settings)
  const { key } = await all.as('admin')
  return { ...all, key } as never as Served & { key: string }
}

test('nobody is believed but for the Host that was asked', async t => {
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
      name: 'who is no proxy that is trusted says what it likes',
      headers: { host: 'books.lan', ...forged },
      base: 'http://books.lan',
    },
    ...['a b', 'x"><script>', 'evil/', 'user@evil', 'h:99999', '[::g]', ''].map(host => ({
      name: `a Host that is none: ${host}`,
      headers: { host },
      base: own,
    })),
  ]
  for (const one of cases) await check(t, all, one)

  await t.test('whoever names no host is sent where it found the server', async t => {
    const socket = connect(port(all), '127.0.0.1')
    socket.write(`GET /opds/v1/catalog HTTP/1.0\r\nX-API-Key: ${all.key}\r\n\r\n`)
    let said = ''
    for await (const part of socket) said += part
    t.match(said, /^HTTP\/1\.[01] 200/)
    const addresses = addressesIn(said, all.base)
    t.ok(addresses.length > 2)
    t.ok(addresses.every(address => address.startsWith(`${all.base}/opds/`)))
    const whole = await ask(all, `${all.base}/opds/v2?page=1`, { 'x-api-key': all.key })
    t.equal(whole.status, 200, 'a whole address as the target, as proxies send it')
  })

  await t.test('escaped letters and fragments make no other address', async t => {
    const headers = { 'x-api-key': all.key }
    const good = [
      '/opds/%761/catalog',
      '/%6Fpds',
      '/opds/v1%2E2/series',
      '/opds/v%32',
      '/opds/v2#x',
    ]
    for (const path of [...good, '/opds/v2.0/keep-reading?page=1#?page=x']) {
      const { status, text } = await ask(all, path, headers)
      t.equal(status, 200, path)
      t.ok(addressesIn(text, own).every(address => address.startsWith(`${own}/opds/v`)))
    }
    for (const path of ['/opds/%761/search.xml', '/opds/v%32/auth'])
      t.equal((await ask(all, path)).status, 200, `${path} for strangers`)
    const refused = await ask(all, '/opds/v%31/series')
    t.equal(refused.status, 401)
    t.match(refused.headers['www-authenticate'], /^Basic /)
    t.match(refused.headers.link, `<${own}/opds/v2/auth>`)
    for (const path of ['/opds/%25761/catalog', '/opds%2Fv2', '/opds/v2%23x'])
      t.equal((await ask(all, path, headers)).status, 404, path)
  })

  await t.test('a template that was not filled in is a search without words', async t => {
    for (const path of [
      '/opds/v2/search%7B?query%7D',
      '/opds/v2/search{?query}',
      '/opds/v2/search',
    ]) {
      const { status, text } = await ask(all, path, { 'x-api-key': all.key })
      t.equal(status, 200, path)
      t.match(JSON.parse(text), { metadata: { title: 'Search', numberOfItems: 0 } })
    }
  })

  await t.test('whoever names two hosts is answered for neither', async t => {
    const socket = connect(port(all), '127.0.0.1')
    socket.write(
      'GET /opds/v2/auth HTTP/1.1\r\nHost: a.lan\r\nhost: b.lan\r\nConnection: close\r\n\r\n',
    )
    let said = ''
    for await (const part of socket) said += part
    t.match(said, /^HTTP\/1\.1 400/)
    t.notMatch(said, /[ab]\.lan/)
  })
})

test('proxies that are trusted say where the server is', async t => {
  const all = await open(t, { 'application.trusted_proxies': '10.0.0.0/8, 127.0.0.1' })
  const host = { host: '127.0.0.1:1' }
  const usual = { ...host, 'x-forwarded-host': 'books.org', 'x-forwarded-proto': 'https' }
  const below = { ...usual, 'x-forwarded-prefix': '/shelf/' }
  const cases: Case[] = [
    { name: 'nothing at all', headers: { host: 'books.lan' }, base: 'http://books.lan' },
    { name: 'scheme and host', headers: usual, base: 'https://books.org' },
    {
      name: 'a scheme alone',
      headers: { host: 'books.lan:8443', 'x-forwarded-proto': 'HTTPS' },
      base: 'https://books.lan:8443',
    },
    {
      name: 'a port of its own',
      headers: { ...usual, 'x-forwarded-port': '8443' },
      base: 'https://books.org:8443',
    },
    {
      name: 'a usual port',
      headers: { ...usual, 'x-forwarded-port': '443' },
      base: 'https://books.org',
    },
    {
      name: 'IPv6 with a port',
      headers: { ...usual, 'x-forwarded-host': '[::1]', 'x-forwarded-port': '8443' },
      base: 'https://[::1]:8443',
    },
    {
      name: 'several proxies: the nearest',
      headers: {
        ...usual,
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
    { name: 'a prefix that was stripped', headers: below, base: 'https://books.org/shelf' },
    {
      name: 'a prefix that was left',
      headers: below,
      sent: '/shelf',
      base: 'https://books.org/shelf',
    },
    {
      name: 'a prefix like an address of ours, stripped',
      headers: { ...usual, 'x-forwarded-prefix': '/opds' },
      base: 'https://books.org/opds',
    },
    {
      name: 'a prefix like an address of ours, left',
      headers: { ...usual, 'x-forwarded-prefix': '/api' },
      sent: '/api',
      base: 'https://books.org/api',
    },
    {
      name: 'garbage is not believed of them either',
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
  for (const one of cases) await check(t, all, one)
})

test('what is configured goes before what anyone says', async t => {
  const all = await open(t, {
    'application.public_url': 'https://Bücher.example:8443/my/büro/',
    'application.trusted_proxies': 'loopback',
    'api.enable_api_docs': true,
  })
  const base = 'https://xn--bcher-kva.example:8443/my/b%C3%BCro'
  const headers = { host: 'x.lan', 'x-forwarded-host': 'y.lan', 'x-forwarded-prefix': '/z' }
  await check(t, all, { name: 'the path stripped by the proxy', headers, base })
  for (const sent of ['/my/b%C3%BCro', '/m%79/b%c3%bcro'])
    await check(t, all, { name: `the path left by the proxy as ${sent}`, headers, base, sent })
  for (const path of ['/my/b%C3%BCro', '/my/b%C3%BCro/', '/my', '/'])
    t.equal((await ask(all, path, headers)).status, 404, path)

  await t.test('the cookie and the reference stay below it', async t => {
    const place = '/my/b%C3%BCro'
    const left = await fetch(`${all.base}${place}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { 'x-api-key': all.key },
    })
    t.match(left.headers.get('set-cookie'), `auth_token=; Max-Age=0; Path=${place}; `)
    t.match(left.headers.get('set-cookie'), /; Secure$/)
    for (const path of [`${place}/docs`, '/docs', `${place}/docs/static/index.html`]) {
      const page = await fetch(all.base + path, { redirect: 'manual' })
      t.equal(page.headers.get('location'), `${base}/docs/`, path)
    }
    const page = await fetch(`${all.base}${place}/docs/`)
    t.equal(page.status, 200)
    const parts = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(m => m[1]!)
    t.ok(parts.length > 3)
    for (const part of parts) {
      const { pathname } = new URL(part, `${base}/docs/`)
      t.ok(pathname.startsWith(`${place}/docs/`))
      t.equal((await fetch(all.base + pathname)).status, 200, pathname)
    }
    const document = await (await fetch(`${all.base}${place}/docs/json`)).json()
    t.match(document, { servers: [{ url: place }] })
  })
})

test('a list of proxies that is none is told at the start', t => {
  t.throws(() => trust('10.0.0.1, books.lan'), Invalid)
  t.equal(trust(null)('127.0.0.1', 0), false)
  t.equal(trust('::1')('::1', 0), true)
  t.end()
})
