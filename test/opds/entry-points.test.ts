// How reading apps come in: asked for credentials when they bring none, let in by any that are good,
// and not kept out by the rate limit for asking twice.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { openLog } from '../../lib/log.ts'
import { basic, bearer, keyFor, password, person } from '../auth/kit.ts'
import { comic, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'

const reading = ['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead', 'ProgressWrite']
const catalogues = [
  '/opds/v1/catalog',
  '/opds',
  '/opds/v1.2/keep-reading',
  '/opds/v2',
  '/opds/v2.0/on-deck',
]

test('the doors of the catalogues', async t => {
  const all = await serve(t)
  const { base, sql } = all
  const shelf = await shelve(t, all, {
    'Alpha/1.cbz': comic({ pages: 2 }),
    'Alpha/2.cbz': comic({ pages: 2 }),
  })
  await shelf.scan()
  const books = (await shelf.books()).map(book => book.id)
  const ana = await person(sql, { username: 'Ana' })
  const own = await keyFor(sql, ana.id)
  const narrow = await keyFor(sql, ana.id, reading)
  const admin = await all.as('admin')
  const ask = (path: string, init: RequestInit = {}) => fetch(base + path, init)

  await t.test('whoever brings no credentials, or bad ones, is asked for some', async t => {
    await admin.put('/admin/settings/application.name', { value: '"Bücher" & \\ 図書' })
    const wrong = {
      none: {},
      'an unknown name': basic('nobody', 'x'),
      'a bad key': { 'x-api-key': 'stackroom_0' },
      'another scheme': { authorization: 'Digest x' },
      'a bad token': bearer('x.y.z'),
    }
    t.equal((await ask('/opds/v1.2/nothing')).status, 404)
    const native = await ask('/api/v1/books')
    t.equal(native.status, 401)
    t.equal(native.headers.get('www-authenticate'), null, 'browsers are not to show their window')
    for (const path of [...catalogues, `/opds/v1/books/${books[0]}`])
      for (const [name, headers] of Object.entries<Record<string, string>>(wrong))
        for (const method of ['GET', 'HEAD']) {
          const answer = await ask(path, { method, headers })
          const text = await answer.text()
          const tree = path.startsWith('/opds/v2.0') ? '/opds/v2.0' : '/opds/v2'
          t.equal(answer.status, 401, `${method} ${path} with ${name}`)
          t.equal(
            answer.headers.get('www-authenticate'),
            'Basic realm="\\"Bucher\\" & \\\\", charset="UTF-8"',
          )
          t.equal(
            answer.headers.get('link'),
            `<${base}${tree}/auth>; rel="http://opds-spec.org/auth/document"; type="application/opds-authentication+json"`,
          )
          if (method === 'HEAD') t.equal(text, '')
          else if (path.startsWith('/opds/v2')) {
            t.equal(answer.headers.get('content-type'), 'application/opds-authentication+json')
            t.match(JSON.parse(text), { id: `${base}${tree}/auth`, title: '"Bücher" & \\ 図書' })
          } else t.match(JSON.parse(text), { error: 'Unauthorized', details: null })
        }
    await admin.put('/admin/settings/application.name', { value: '図書館' })
    const nameless = await ask('/opds')
    t.match(nameless.headers.get('www-authenticate'), /^Basic realm="Stackroom",/)
  })

  await t.test('the document and the description of the search are for anyone', async t => {
    for (const path of ['/opds/v2/auth', '/opds/v2.0/auth', '/opds/v1/search.xml']) {
      t.equal((await ask(path)).status, 200, path)
      t.equal((await ask(path, { method: 'HEAD' })).status, 200, `HEAD ${path}`)
    }
    const document = await (await ask('/opds/v2/auth')).json()
    t.same(document, await (await ask('/opds/v2')).json(), 'what a refusal says is the same')
  })

  await t.test('any credentials that are good open both trees', async t => {
    const body = JSON.stringify({ username: 'ana', password })
    const login = await ask('/api/v1/auth/login', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    const { accessToken } = (await login.json()) as { accessToken: string }
    const ways = {
      'user name and password': basic('ana', password),
      'e-mail and password': basic('ANA@example.org', password),
      'user name and key': basic('ana', own.key),
      'a key alone': basic(own.key, ''),
      'e-mail and key': basic('ana@example.org', own.key),
      token: bearer(accessToken),
      'key as a token': bearer(own.key),
      'key header': { 'x-api-key': own.key },
      'a key that may only read': { 'x-api-key': narrow.key },
    }
    for (const [name, headers] of Object.entries<Record<string, string>>(ways))
      for (const path of catalogues) {
        const answer = await ask(path, { headers })
        t.equal(answer.status, 200, `${path} by ${name}`)
        t.equal(answer.headers.get('www-authenticate'), null)
      }
    const nothing = await keyFor(sql, ana.id, ['ApiKeysRead'])
    for (const path of catalogues)
      t.equal((await ask(path, { headers: { 'x-api-key': nothing.key } })).status, 403, path)
  })

  await t.test('a browser keeps nothing of one account for the next', async t => {
    const origins = 'https://one.example, https://two.example'
    const settings = { 'api.cors_enabled': true, 'api.cors_origins': origins }
    const { base } = await all.another({ settings: { ...settings, 'rate_limit.enabled': false } })
    const varies = async (path: string, headers: Record<string, string>, status: number) => {
      const answer = await fetch(base + path, {
        headers: { ...headers, origin: 'https://two.example' },
      })
      await answer.arrayBuffer()
      t.equal(answer.status, status, path)
      t.equal(answer.headers.get('access-control-allow-origin'), 'https://two.example')
      const names = (answer.headers.get('vary') ?? '').toLowerCase().split(/, */)
      return { etag: answer.headers.get('etag'), names }
    }
    const who = ['origin', 'authorization', 'x-api-key', 'x-auth-user', 'cookie']
    const where = ['forwarded', ...['host', 'port', 'prefix', 'proto'].map(s => `x-forwarded-${s}`)]
    const good = basic('ana', password)
    for (const path of [
      ...catalogues,
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
      const expected = path.startsWith('/opds') ? [...who, ...where] : who
      const { etag, names } = await varies(path, good, 200)
      const again = await varies(path, { ...good, 'if-none-match': etag! }, 304)
      const refused = await varies(path, {}, 401)
      for (const said of [names, again.names, refused.names])
        t.same(
          expected.filter(name => !said.includes(name)),
          [],
          `${path} varies by ${said}`,
        )
    }
    const known = await varies('/opds/v2', good, 200)
    for (const tag of ['*', known.etag!.replace('W/', ''), `"x", ${known.etag}`])
      await varies('/opds/v2', { ...good, 'if-none-match': tag }, 304)
  })

  await t.test('fifty covers, each asked for without credentials first, twice', async t => {
    // The limits as they are without any configuration.
    const { base } = await all.another({ settings: {} })
    const ask = (path: string, init: RequestInit = {}) => fetch(base + path, init)
    const headers = basic('ana', password)
    for (let round = 0; round < 2; round++) {
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const path = `/opds/v1/books/${books[i % 2]}/thumbnail.jpg`
          const stranger = await ask(path)
          await stranger.arrayBuffer()
          const known = await ask(path, { headers })
          await known.arrayBuffer()
          return `${stranger.status} ${known.status}`
        }),
      )
      t.same([...new Set(statuses)], ['401 200'])
    }
    const answer = await ask('/opds/v1/catalog', { headers })
    const left = Number(answer.headers.get('x-ratelimit-remaining'))
    t.ok(left > 150, `${left}: strangers pay from another bucket`)
  })

  await t.test('a flood of either is stopped, and says until when', async t => {
    const { base } = await all.another({ settings: few })
    const many = async (count: number, headers: Record<string, string>) => {
      const answers = Array.from({ length: count }, async () => {
        const answer = await fetch(`${base}/opds/v2/keep-reading`, { headers })
        return { answer, text: await answer.text() }
      })
      return (await Promise.all(answers)).filter(({ answer }) => answer.status === 429)
    }
    for (const headers of [{ 'x-api-key': 'stackroom_0' }, {}]) {
      const [first, ...others] = await many(60, headers as Record<string, string>)
      t.ok(others.length > 20)
      t.ok(Number(first!.answer.headers.get('retry-after')) >= 1)
      t.match(first!.answer.headers.get('content-type'), /^application\/json/)
      t.match(JSON.parse(first!.text), { error: 'rate_limit_exceeded', retry_after: Number })
      t.same(await many(1, { 'x-api-key': own.key }), [], 'an account goes on')
    }
  })

  await t.test('a key in the path', async t => {
    const { key } = await keyFor(sql, ana.id, [...reading, 'ProgressRead', 'CollectionsRead'])
    const lines: string[] = []
    const settings = { 'opds.key_in_path': true, 'rate_limit.enabled': false }
    const log = openLog({ level: 'trace' }, { write: line => void lines.push(line) })
    const { base } = await all.another({ settings, log })
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(base + path, { headers })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, text }
    }

    await t.test('opens both trees, and every link stays on it', async t => {
      for (const version of ['v1', 'v2']) {
        const tree = `/opds/k/${key}/${version}`
        const paths = [version === 'v1' ? `${tree}/catalog` : tree, `${tree}/books/recent`]
        for (const path of [...paths, `${tree}/books/${books[0]}`]) {
          const { status, text, headers } = await ask(path)
          t.equal(status, 200, path)
          t.equal(headers.get('referrer-policy'), 'no-referrer')
          const links = [...text.matchAll(/ href="([^"]+)"|"href":"([^"]+)"/g)]
          t.ok(links.length > 2)
          for (const [, xml, json] of links)
            t.ok((xml ?? json)!.startsWith(`${base}/opds/k/${key}/v`), (xml ?? json)!)
        }
        const image = await ask(`${tree}/books/${books[0]}/thumbnail.jpg`)
        t.equal(image.status, 200)
        t.equal(image.headers.get('content-type'), 'image/jpeg')
        const escaped = await ask(`/opds/k/${key.replaceAll('_', '%5F')}/${version}/on-deck`)
        t.equal(escaped.status, 200)
      }
    })

    await t.test('works in all the addresses that work without it', async t => {
      const aliases = { '': 'v1', '/': 'v1', '/v1': 'v1', '/v1.2/catalog': 'v1.2' }
      for (const [alias, tree] of Object.entries({ ...aliases, '/v2/': 'v2', '/v2.0': 'v2.0' })) {
        const { status, text } = await ask(`/opds/k/${key}${alias}`)
        t.equal(status, 200, alias)
        t.ok(text.includes(`"${base}/opds/k/${key}/${tree}/series"`), `${alias} leads into ${tree}`)
      }
      const { text } = await ask(`/opds/k/${key}/v1.2/catalog`)
      t.ok(text.includes(`"${base}/opds/k/${key}/v2"`), 'and to the other version')
    })

    await t.test('counts before what else is sent', async t => {
      const good = { 'x-api-key': key }
      t.equal((await ask('/opds/k/stackroom_0/v1/catalog', good)).status, 401)
      t.equal((await ask(`/opds/k/${key}/v1/catalog`, { 'x-api-key': 'bad' })).status, 200)
    })

    await t.test('that can do more than read is refused', async t => {
      const more = await keyFor(sql, ana.id)
      const keys = [more.key, (await all.as('admin')).key]
      for (const { status, text } of await Promise.all(keys.map(k => ask(`/opds/k/${k}/v2`)))) {
        t.equal(status, 403)
        t.match(JSON.parse(text).message, /may hold no more than permissions to read/)
        t.notMatch(text, 'stackroom_')
      }
      t.equal(
        (await ask('/opds/v2', { 'x-api-key': more.key })).status,
        200,
        'elsewhere it is good',
      )
    })

    await t.test('that is no good is asked for another way, and not repeated', async t => {
      const wrong = key.replace(/.$/, last => (last === '0' ? '1' : '0'))
      for (const path of [`/opds/k/${wrong}/v1/catalog`, `/opds/k/${wrong}/v2`]) {
        const { status, text, headers } = await ask(path)
        t.equal(status, 401)
        t.match(headers.get('link'), `<${base}/opds/v2/auth>`)
        t.notMatch(text + JSON.stringify([...headers]), wrong)
      }
      for (const path of [`/opds/k/${key}/v1/nothing`, `/opds/k/${key}/v1/books/x`]) {
        const { status, text, headers } = await ask(path)
        t.ok(status === 404 || status === 400, path)
        t.notMatch(text + JSON.stringify([...headers]), key)
      }
    })

    await t.test('is in no line of the log and in no metric', async t => {
      const admin = await all.as('admin')
      const metrics = await ask('/metrics', { 'x-api-key': admin.key })
      t.match(metrics.text, /route="\/opds\/v1\/books\/recent"/)
      await sleep(50)
      const logged = lines.join('')
      t.match(logged, '/opds/v1/books/recent')
      for (const part of [key, key.slice(-20), '/opds/k/']) {
        t.notMatch(logged, part)
        t.notMatch(metrics.text, part)
      }
    })

    await t.test('is an address like any unknown one where it is not allowed', async t => {
      for (const path of [`/opds/k/${key}/v1/catalog`, `/opds/k/${key}/v2`]) {
        const answer = await fetch(all.base + path)
        t.equal(answer.status, 404)
        t.notMatch(await answer.text(), key)
      }
    })
  })
})

const few = {
  'rate_limit.anonymous_rps': 1,
  'rate_limit.anonymous_burst': 10,
  'rate_limit.image_rps': 1,
  'rate_limit.image_burst': 20,
}
