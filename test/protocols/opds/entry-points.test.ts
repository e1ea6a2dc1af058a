// Entry points of the OPDS catalogs: authentication challenges, all kinds of credentials, and rate limits that
// do not count the request before the challenge.
import { test } from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { basic, bearer, createTestAccount, createTestKey, password } from '../../accounts/kit.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApi } from '../../kit/server.ts'

const readPermissions = ['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead', 'ProgressWrite']
const catalogs = [
  '/opds/v1/catalog',
  '/opds',
  '/opds/v1.2/keep-reading',
  '/opds/v2',
  '/opds/v2.0/on-deck',
]

test('the entry points of the catalogs', async t => {
  const all = await startApi(t)
  const { base, sql } = all
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic({ pages: 2 }),
    'Alpha/2.cbz': comic({ pages: 2 }),
  })
  await library.scan()
  const books = (await library.books()).map(book => book.id)
  const ana = await createTestAccount(sql, { username: 'Ana' })
  const fullKey = await createTestKey(sql, ana.id)
  const readKey = await createTestKey(sql, ana.id, readPermissions)
  const admin = await all.createUser('admin')
  const send = (path: string, init: RequestInit = {}) => fetch(base + path, init)

  await t.test('requests without or with wrong credentials are challenged', async t => {
    await admin.put('/admin/settings/application.name', { value: '"Bücher" & \\ 図書' })
    const wrong = {
      none: {},
      'an unknown name': basic('unknown', 'x'),
      'a bad key': { 'x-api-key': 'stackroom_0' },
      'another scheme': { authorization: 'Digest x' },
      'a bad token': bearer('x.y.z'),
    }
    t.equal((await send('/opds/v1.2/nothing')).status, 404)
    const native = await send('/api/v1/books')
    t.equal(native.status, 401)
    t.equal(
      native.headers.get('www-authenticate'),
      null,
      'browsers must not display a login dialog',
    )
    for (const path of [...catalogs, `/opds/v1/books/${books[0]}`])
      for (const [name, headers] of Object.entries<Record<string, string>>(wrong))
        for (const method of ['GET', 'HEAD']) {
          const response = await send(path, { method, headers })
          const text = await response.text()
          const tree = path.startsWith('/opds/v2.0') ? '/opds/v2.0' : '/opds/v2'
          t.equal(response.status, 401, `${method} ${path} with ${name}`)
          t.equal(
            response.headers.get('www-authenticate'),
            'Basic realm="\\"Bucher\\" & \\\\", charset="UTF-8"',
          )
          t.equal(
            response.headers.get('link'),
            `<${base}${tree}/auth>; rel="http://opds-spec.org/auth/document"; type="application/opds-authentication+json"`,
          )
          if (method === 'HEAD') t.equal(text, '')
          else if (path.startsWith('/opds/v2')) {
            t.equal(response.headers.get('content-type'), 'application/opds-authentication+json')
            t.match(JSON.parse(text), { id: `${base}${tree}/auth`, title: '"Bücher" & \\ 図書' })
          } else t.match(JSON.parse(text), { error: 'Unauthorized', details: null })
        }
    await admin.put('/admin/settings/application.name', { value: '図書館' })
    const fallback = await send('/opds')
    t.match(fallback.headers.get('www-authenticate'), /^Basic realm="Stackroom",/)
  })

  await t.test('the authentication document and the search description are public', async t => {
    for (const path of ['/opds/v2/auth', '/opds/v2.0/auth', '/opds/v1/search.xml']) {
      t.equal((await send(path)).status, 200, path)
      t.equal((await send(path, { method: 'HEAD' })).status, 200, `HEAD ${path}`)
    }
    const document = await (await send('/opds/v2/auth')).json()
    t.same(document, await (await send('/opds/v2')).json(), 'the same document as in the challenge')
  })

  await t.test('all kinds of valid credentials are accepted in both trees', async t => {
    const body = JSON.stringify({ username: 'ana', password })
    const login = await send('/api/v1/auth/login', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    const { accessToken } = (await login.json()) as { accessToken: string }
    const credentials = {
      'user name and password': basic('ana', password),
      'e-mail and password': basic('ANA@example.org', password),
      'user name and key': basic('ana', fullKey.key),
      'a key alone': basic(fullKey.key, ''),
      'e-mail and key': basic('ana@example.org', fullKey.key),
      token: bearer(accessToken),
      'key as a token': bearer(fullKey.key),
      'key header': { 'x-api-key': fullKey.key },
      'a key that may only read': { 'x-api-key': readKey.key },
    }
    for (const [name, headers] of Object.entries<Record<string, string>>(credentials))
      for (const path of catalogs) {
        const response = await send(path, { headers })
        t.equal(response.status, 200, `${path} by ${name}`)
        t.equal(response.headers.get('www-authenticate'), null)
      }
    const unrelated = await createTestKey(sql, ana.id, ['ApiKeysRead'])
    for (const path of catalogs)
      t.equal((await send(path, { headers: { 'x-api-key': unrelated.key } })).status, 403, path)
  })

  await t.test('responses vary by credentials, so that caches separate accounts', async t => {
    const origins = 'https://one.example, https://two.example'
    const settings = { 'api.cors_enabled': true, 'api.cors_origins': origins }
    const { base } = await all.startAnother({
      settings: { ...settings, 'rate_limit.enabled': false },
    })
    const varyOf = async (path: string, headers: Record<string, string>, status: number) => {
      const response = await fetch(base + path, {
        headers: { ...headers, origin: 'https://two.example' },
      })
      await response.arrayBuffer()
      t.equal(response.status, status, path)
      t.equal(response.headers.get('access-control-allow-origin'), 'https://two.example')
      const names = (response.headers.get('vary') ?? '').toLowerCase().split(/, */)
      return { etag: response.headers.get('etag'), names }
    }
    const credentialHeaders = [
      ...['origin', 'authorization', 'x-api-key', 'x-auth-user', 'x-auth-token', 'cookie'],
    ]
    const addressHeaders = [
      'forwarded',
      ...['host', 'port', 'prefix', 'proto'].map(part => `x-forwarded-${part}`),
    ]
    const good = basic('ana', password)
    for (const path of [
      ...catalogs,
      `/opds/v1/books/${books[0]}`,
      `/opds/v1/books/${books[0]}/cover.jpg`,
      `/opds/v2/books/${books[0]}/thumbnail.jpg`,
      `/opds/v1/books/${books[0]}/pages/0`,
      `/opds/v2/books/${books[0]}/file/1.cbz`,
      `/opds/v2/books/${books[0]}/manifest`,
      '/api/v1/books',
      `/api/v1/books/${books[0]}/pages/1`,
      `/api/v1/books/${books[0]}/thumbnail`,
      `/api/v1/books/${books[0]}/file`,
    ]) {
      const expected = path.startsWith('/opds')
        ? [...credentialHeaders, ...addressHeaders]
        : credentialHeaders
      const { etag, names } = await varyOf(path, good, 200)
      const notModified = await varyOf(path, { ...good, 'if-none-match': etag! }, 304)
      const refused = await varyOf(path, {}, 401)
      for (const vary of [names, notModified.names, refused.names])
        t.same(
          expected.filter(name => !vary.includes(name)),
          [],
          `${path} varies by ${vary}`,
        )
    }
    const current = await varyOf('/opds/v2', good, 200)
    for (const etag of ['*', current.etag!.replace('W/', ''), `"x", ${current.etag}`])
      await varyOf('/opds/v2', { ...good, 'if-none-match': etag }, 304)
  })

  await t.test('fifty covers, each first requested without credentials, twice', async t => {
    // The default limits.
    const { base } = await all.startAnother({ settings: {} })
    const send = (path: string, init: RequestInit = {}) => fetch(base + path, init)
    const headers = basic('ana', password)
    for (let round = 0; round < 2; round++) {
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const path = `/opds/v1/books/${books[i % 2]}/thumbnail.jpg`
          const challenge = await send(path)
          await challenge.arrayBuffer()
          const authorized = await send(path, { headers })
          await authorized.arrayBuffer()
          return `${challenge.status} ${authorized.status}`
        }),
      )
      t.same([...new Set(statuses)], ['401 200'])
    }
    const response = await send('/opds/v1/catalog', { headers })
    const remaining = Number(response.headers.get('x-ratelimit-remaining'))
    t.ok(remaining > 150, `${remaining}: requests without credentials use another bucket`)
  })

  await t.test('floods with and without credentials are limited, with Retry-After', async t => {
    const { base } = await all.startAnother({ settings: lowLimits })
    const many = async (count: number, headers: Record<string, string>) => {
      const responses = Array.from({ length: count }, async () => {
        const response = await fetch(`${base}/opds/v2/keep-reading`, { headers })
        return { response, text: await response.text() }
      })
      return (await Promise.all(responses)).filter(({ response }) => response.status === 429)
    }
    for (const headers of [{ 'x-api-key': 'stackroom_0' }, {}]) {
      const [first, ...others] = await many(60, headers as Record<string, string>)
      t.ok(others.length > 20)
      t.ok(Number(first!.response.headers.get('retry-after')) >= 1)
      t.match(first!.response.headers.get('content-type'), /^application\/json/)
      t.match(JSON.parse(first!.text), { error: 'rate_limit_exceeded', retry_after: Number })
      t.same(
        await many(1, { 'x-api-key': fullKey.key }),
        [],
        'other requests of an account continue',
      )
    }
  })

  await t.test('a key in the path', async t => {
    const { key } = await createTestKey(sql, ana.id, [
      ...readPermissions,
      'ProgressRead',
      'CollectionsRead',
    ])
    const lines: string[] = []
    const settings = { 'opds.key_in_path': true, 'rate_limit.enabled': false }
    const log = openLog({ level: 'trace' }, { write: line => void lines.push(line) })
    const { base } = await all.startAnother({ settings, log })
    const send = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(base + path, { headers })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text }
    }

    await t.test('is accepted in both trees, and every link contains it', async t => {
      for (const version of ['v1', 'v2']) {
        const tree = `/opds/k/${key}/${version}`
        const paths = [version === 'v1' ? `${tree}/catalog` : tree, `${tree}/books/recent`]
        for (const path of [...paths, `${tree}/books/${books[0]}`]) {
          const { status, text, headers } = await send(path)
          t.equal(status, 200, path)
          t.equal(headers.get('referrer-policy'), 'no-referrer')
          const links = [...text.matchAll(/ href="([^"]+)"|"href":"([^"]+)"/g)]
          t.ok(links.length > 2)
          for (const [, xml, json] of links)
            t.ok((xml ?? json)!.startsWith(`${base}/opds/k/${key}/v`), (xml ?? json)!)
        }
        const image = await send(`${tree}/books/${books[0]}/thumbnail.jpg`)
        t.equal(image.status, 200)
        t.equal(image.headers.get('content-type'), 'image/jpeg')
        const escaped = await send(`/opds/k/${key.replaceAll('_', '%5F')}/${version}/on-deck`)
        t.equal(escaped.status, 200)
      }
    })

    await t.test('works with all aliases', async t => {
      const aliases = { '': 'v1', '/': 'v1', '/v1': 'v1', '/v1.2/catalog': 'v1.2' }
      for (const [alias, tree] of Object.entries({ ...aliases, '/v2/': 'v2', '/v2.0': 'v2.0' })) {
        const { status, text } = await send(`/opds/k/${key}${alias}`)
        t.equal(status, 200, alias)
        t.ok(text.includes(`"${base}/opds/k/${key}/${tree}/series"`), `${alias} links to ${tree}`)
      }
      const { text } = await send(`/opds/k/${key}/v1.2/catalog`)
      t.ok(text.includes(`"${base}/opds/k/${key}/v2"`), 'and to the other version')
    })

    await t.test('takes precedence over other credentials', async t => {
      const good = { 'x-api-key': key }
      t.equal((await send('/opds/k/stackroom_0/v1/catalog', good)).status, 401)
      t.equal((await send(`/opds/k/${key}/v1/catalog`, { 'x-api-key': 'bad' })).status, 200)
    })

    await t.test('with write permissions is rejected', async t => {
      const writeKey = await createTestKey(sql, ana.id)
      const keys = [writeKey.key, (await all.createUser('admin')).key]
      for (const { status, text } of await Promise.all(
        keys.map(key => send(`/opds/k/${key}/v2`)),
      )) {
        t.equal(status, 403)
        t.match(JSON.parse(text).message, /may have read permissions only/)
        t.notMatch(text, 'stackroom_')
      }
      t.equal(
        (await send('/opds/v2', { 'x-api-key': writeKey.key })).status,
        200,
        'in a header it is accepted',
      )
    })

    await t.test('that is invalid is challenged and never repeated', async t => {
      const wrong = key.replace(/.$/, digit => (digit === '0' ? '1' : '0'))
      for (const path of [`/opds/k/${wrong}/v1/catalog`, `/opds/k/${wrong}/v2`]) {
        const { status, text, headers } = await send(path)
        t.equal(status, 401)
        t.match(headers.get('link'), `<${base}/opds/v2/auth>`)
        t.notMatch(text + JSON.stringify([...headers]), wrong)
      }
      for (const path of [`/opds/k/${key}/v1/nothing`, `/opds/k/${key}/v1/books/x`]) {
        const { status, text, headers } = await send(path)
        t.ok(status === 404 || status === 400, path)
        t.notMatch(text + JSON.stringify([...headers]), key)
      }
    })

    await t.test('does not appear in logs and metrics', async t => {
      const admin = await all.createUser('admin')
      const metrics = await send('/metrics', { 'x-api-key': admin.key })
      t.match(metrics.text, /route="\/opds\/v1\/books\/recent"/)
      await waitUntil(() => lines.join('').includes('/opds/v1/books/recent'))
      const logged = lines.join('')
      for (const part of [key, key.slice(-20), '/opds/k/']) {
        t.notMatch(logged, part)
        t.notMatch(metrics.text, part)
      }
    })

    await t.test('is not found while the setting is off', async t => {
      for (const path of [`/opds/k/${key}/v1/catalog`, `/opds/k/${key}/v2`]) {
        const response = await fetch(all.base + path)
        t.equal(response.status, 404)
        t.notMatch(await response.text(), key)
      }
    })
  })
})

const lowLimits = {
  'rate_limit.anonymous_rps': 1,
  'rate_limit.anonymous_burst': 10,
  'rate_limit.image_rps': 1,
  'rate_limit.image_burst': 20,
}

test('the short address has the version that the app prefers', async t => {
  const { base, sql } = await startApi(t)
  const account = await createTestAccount(sql, { username: 'Bea' })
  const { key } = await createTestKey(sql, account.id)
  const koreader = 'application/opds+json, application/atom+xml;profile=opds-catalog, */*'
  for (const [accept, type] of [
    [koreader, 'application/opds+json'],
    ['application/opds+json', 'application/opds+json'],
    ['application/atom+xml;q=0.5, application/OPDS+JSON; q=0.9', 'application/opds+json'],
    ['application/atom+xml, application/opds+json', 'application/atom+xml;charset=utf-8'],
    ['application/opds+json;q=0.1, application/atom+xml', 'application/atom+xml;charset=utf-8'],
    ['application/opds+json;q=0', 'application/atom+xml;charset=utf-8'],
    ['*/*', 'application/atom+xml;charset=utf-8'],
    ['text/html, application/json', 'application/atom+xml;charset=utf-8'],
  ] as const)
    for (const path of ['/opds', '/opds/', '/opds-comics']) {
      const response = await fetch(base + path, { headers: { accept, 'x-api-key': key } })
      t.same([response.status, response.headers.get('content-type')], [200, type], accept)
      t.match(response.headers.get('vary'), /\bAccept,|\bAccept$/)
      const version = type.includes('json') ? 'v2' : 'v1'
      t.match(await response.text(), `${base}/opds/${version}/on-deck`, 'links stay in the version')
    }
  const fixed = { headers: { accept: koreader, 'x-api-key': key } }
  const catalog = await fetch(`${base}/opds/v1/catalog`, fixed)
  t.match(catalog.headers.get('content-type'), 'application/atom+xml')
  const refused = await fetch(`${base}/opds`, { headers: { accept: koreader } })
  t.equal(refused.status, 401)
  t.equal(refused.headers.get('content-type'), 'application/opds-authentication+json')
})
