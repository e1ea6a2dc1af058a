// Sessions of reading apps over HTTP: with a URL, a user name and a password, they follow links.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Test, test } from 'tap'
import { readXml } from '../../kit/opds/atom.ts'
import { type Document, type Item, type Link, rel, rels } from '../../kit/opds/document.ts'
import { createOpdsFixture, type OpdsFixture } from '../../kit/opds/fixture.ts'
import { readJson } from '../../kit/opds/json.ts'

const browser = { 'accept-encoding': 'identity', 'user-agent': 'reading app' }

test('reading apps', async t => {
  const fixture = await createOpdsFixture(t, { size: { books: 8, series: 2, titles: 2 } })

  await t.test(
    'an OPDS 1.2 app authenticates, browses, searches, streams and downloads',
    async t => {
      const app = await signIn(t, fixture, `${fixture.base}/opds/v1/catalog`)
      const root = readXml(await app.open(`${fixture.base}/opds/v1/catalog`))
      const all = readXml(await app.open(entry(root, 'All series').links[0]!.href))
      const series = readXml(await app.open(feedHref(entry(all, 'Long run'))))
      t.equal(series.paging!.total, 8)

      const unread = series.links.find(link => link.title === 'Unread')!
      t.equal(unread.count, 4)
      const rest = readXml(await app.open(unread.href))
      t.equal(rest.items.length, 4)
      t.ok(rest.links.find(link => link.title === 'Unread')!.isActive)

      // Some apps send no password for the search description.
      const description = await fetch(rel(root, 'search')!.href)
      const { links } = readXml(await description.text())
      const found = readXml(
        await app.open(links[0]!.href.replace('{searchTerms}', encodeURIComponent('words & pict'))),
      )
      t.equal(found.items.length, 1)
      t.match(found.items[0]!.title, /Words & <pictures>/)

      const started = series.items.find(item => linkOf(item, rels.stream)?.pages?.lastRead === 1)!
      const stream = linkOf(started, rels.stream)!
      t.equal(stream.pages!.count, 2)
      for (const page of [0, 1]) {
        const url = stream.href.replace('{pageNumber}', `${page}`)
        const image = await app.get(url.replace('{maxWidth}', '1200'))
        const same = await fixture.reader.get(`/books/${idIn(url)}/pages/${page + 1}`)
        t.equal(image.headers.get('content-type'), stream.type)
        t.ok(image.body.equals(same.bytes), `page ${page}`)
        const unfilled = await app.get(url)
        t.ok(unfilled.body.equals(same.bytes), 'a template variable that was not replaced')
      }
      const progress = await fixture.reader.get(`/books/${idIn(stream.href)}/progress`)
      t.equal(progress.body.currentPage, 1, 'streaming does not change the progress')

      await download(t, fixture, app, linkOf(started, rels.acquisition)!)
      await simpleClient(t, fixture)
    },
  )

  await t.test(
    'an OPDS 2.0 app authenticates, browses, searches, reads and syncs its progress',
    async t => {
      const app = await signIn(t, fixture, `${fixture.base}/opds/v2`)
      const root = readJson(await app.open(`${fixture.base}/opds/v2`))
      const all = readJson(await app.open(entry(root, 'All series').links[0]!.href))
      const series = readJson(await app.open(entry(all, 'Formats').links[0]!.href))
      const newest = series.links.find(link => link.title === 'Newest')!
      t.equal(readJson(await app.open(newest.href)).items.length, series.items.length)

      const template = rel(root, 'search')!
      t.ok(template.isTemplate)
      const found = readJson(await app.open(template.href.replace('{?query}', '?query=webp')))
      t.equal(found.items.length, 1)
      const book = readJson(await app.open(linkOf(found.items[0]!, 'self')!.href))

      const manifest = readJson(await app.open(rel(book, 'alternate')!.href)).json
      t.equal(manifest.readingOrder.length, 3)
      for (const page of [manifest.readingOrder[0], manifest.readingOrder[2]]) {
        const image = await app.get(page.href)
        t.equal(image.headers.get('content-type'), 'image/webp')
        const [jpeg] = page.alternate
        t.equal((await app.get(jpeg.href)).headers.get('content-type'), 'image/jpeg')
      }
      await progression(t, fixture, app, { book, href: manifest.readingOrder[1].href })
      await download(t, fixture, app, rel(book, rels.acquisition)!)

      const words = series.items.find(item => item.title.includes('Words'))!
      const epub = readJson(await app.open(linkOf(words, 'alternate')!.href)).json
      const chapter = await app.get(epub.readingOrder[0].href)
      t.equal(chapter.headers.get('content-type'), 'application/xhtml+xml')
      t.match(chapter.body.toString(), /Words and words/)
      t.match(chapter.headers.get('content-security-policy'), /script-src 'none'/)
    },
  )
})

type App = Awaited<ReturnType<typeof signIn>>

/** Requests without credentials, reads the challenge, and sends credentials from then on. */
async function signIn(t: Test, { login, ...fixture }: OpdsFixture, url: string) {
  const challenge = await fetch(url, { headers: browser })
  t.equal(challenge.status, 401)
  t.match(challenge.headers.get('www-authenticate'), /^Basic realm="[^"]+", charset="UTF-8"$/)
  const documentLink = /<([^>]+)>; rel="http:\/\/opds-spec\.org\/auth\/document"/.exec(
    challenge.headers.get('link') ?? '',
  )
  const authentication: any = await (await fetch(documentLink![1]!)).json()
  t.equal(authentication.authentication[0].type, 'http://opds-spec.org/auth/basic')
  if (url.endsWith('/v2')) t.same(await challenge.json(), authentication)
  const wrong = Buffer.from(`${login.username}:guessed`).toString('base64')
  const refused = await fetch(url, { headers: { authorization: `Basic ${wrong}` } })
  t.equal(refused.status, 401)

  const headers = { ...browser, ...fixture.basic() }
  const get = async (url: string, more: Record<string, string> = {}) => {
    const response = await fetch(url, { headers: { ...headers, ...more }, redirect: 'error' })
    const body = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, body }
  }
  return {
    headers,
    get,
    /** HEAD, then GET, as KOReader does. Returns the text. */
    async open(url: string) {
      const head = await fetch(url, { method: 'HEAD', headers, redirect: 'error' })
      const { status, body, headers: received } = await get(url)
      t.same([head.status, status], [200, 200], url)
      t.equal(await head.text(), '')
      t.equal(head.headers.get('content-type'), received.get('content-type'))
      t.equal(received.get('content-encoding'), null)
      t.equal(head.headers.get('content-length'), String(body.length))
      return body.toString()
    },
  }
}

/** In two ranges, as after a lost connection. */
async function download(t: Test, fixture: OpdsFixture, app: App, { href }: Link) {
  const head = await fetch(href, { method: 'HEAD', headers: app.headers })
  const length = Number(head.headers.get('content-length'))
  const name = decodeURIComponent(new URL(href).pathname.split('/').at(-1)!)
  t.ok(head.headers.get('content-disposition')!.includes(`filename="${name}"`))
  const first = await app.get(href, { range: `bytes=0-${length - 100}` })
  const etag = first.headers.get('etag')!
  const second = await app.get(href, { range: `bytes=${length - 99}-`, 'if-range': etag })
  t.same([first.status, second.status], [206, 206])
  const [book] = (await fixture.main.books()).filter(book => book.id === idIn(href))
  const file = readFileSync(fixture.main.pathOf(`${book!.folder}/${book!.name}`))
  t.ok(Buffer.concat([first.body, second.body]).equals(file), `${name} is complete`)
}

/** GET, PUT, GET; older progress is rejected. */
async function progression(
  t: Test,
  fixture: OpdsFixture,
  app: App,
  { book, href }: { book: Document; href: string },
) {
  const { href: url, type } = rel(book, rels.progression)!
  const put = async (progression: object) => {
    const headers = { ...app.headers, 'content-type': type }
    return (await fetch(url, { method: 'PUT', headers, body: JSON.stringify(progression) })).status
  }
  t.equal((await app.get(url)).status, 204)
  const written = {
    modified: new Date().toISOString(),
    device: { id: 'urn:uuid:0f5c2a4e-6d0a-4b51-9a39-0d3a1d1a7c11', name: 'A tablet' },
    locator: { href, type: 'image/webp', locations: { position: 2, totalProgression: 0.5 } },
  }
  t.equal(await put(written), 204)
  const stored = await app.get(url)
  t.equal(stored.headers.get('content-type'), type)
  t.match(JSON.parse(stored.body.toString()), written)
  t.equal(await put({ ...written, modified: '2020-01-01T00:00:00Z' }), 409)
  t.equal(await put({ ...written, locator: {} }), 400)
  const progress = await fixture.reader.get(`/books/${idIn(url)}/progress`)
  t.equal(progress.body.currentPage, 2)
  const reading = readJson(await app.open(`${fixture.base}/opds/v2/keep-reading`))
  t.match(linkOf(reading.items[0]!, 'self')!.href, idIn(url))
}

/** A client that sends HTTP/1.0 without Host. */
async function simpleClient(t: Test, { base, basic }: OpdsFixture) {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const received = text(socket)
  socket.write(
    `GET /opds/v1.2/catalog/ HTTP/1.0\r\nAuthorization: ${basic().authorization}\r\n\r\n`,
  )
  const response = await received
  t.match(response, /^HTTP\/1\.[01] 200 /)
  t.match(response, '<feed')
}

const idIn = (href: string) => /[\da-f]{8}-[\da-f-]{27}/.exec(href)![0]
const linkOf = ({ links }: Item, name: string) => links.find(link => link.rels.includes(name))
const feedHref = ({ links }: Item) =>
  links.find(link => link.type.startsWith('application/atom'))!.href

function entry({ items }: Document, title: string): Item {
  const found = items.find(item => item.title === title)
  if (!found) throw new Error(`${title} is not among ${items.map(item => item.title)}`)
  return found
}
