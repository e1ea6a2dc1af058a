import { setTimeout as sleep } from 'node:timers/promises'
import { XmlDocument } from 'libxml2-wasm'
import t from 'tap'
import { createFixture } from '../../kit/fixture.ts'
import type { Client } from '../../kit/http/client.ts'
import { comic } from '../../kit/library.ts'
import { palaceEntry, palaceFeed, thoriumEntry, thoriumFeed } from '../../kit/opds/parsers.ts'
import { relaxErrors } from '../../kit/opds/relax-ng.ts'
import { use } from '../../kit/use.ts'

const all = await createFixture(t)
const { admin, anonymous: anyone, sql } = all
const feedType = 'application/atom+xml;charset=utf-8'
const text = async (path: string, client: Pick<Client, 'get'> = admin) => {
  const { status, headers, bytes } = await client.get(path)
  return { status, type: headers.get('content-type'), headers, xml: bytes.toString() }
}
const bookOf = async (file: string) => {
  const [row] = await sql<{ id: string; series: string }[]>`
    select b.id, b.series_id as series from book b where convert_from(b.name, 'latin1') = ${file}
    order by b.id limit 1`
  return row!
}

t.test('the feeds of the catalog are valid and complete for parsers', async t => {
  const { xml, type } = await text('/opds/v1/catalog')
  t.equal(type, feedType)
  t.same(relaxErrors(xml), [])
  const { Navigation, Publications } = thoriumFeed(xml)
  t.equal(Publications, undefined)
  t.equal((await palaceFeed(xml)).constructor.name, 'NavigationFeed')
  t.ok(Navigation!.length > 3)
  for (const { Href, TypeLink } of Navigation!) {
    const { status, xml } = await text(Href.slice(all.base.length))
    t.equal(status, 200, Href)
    t.same(relaxErrors(xml), [], Href)
    const parsed = thoriumFeed(xml)
    const isAcquisition = TypeLink!.endsWith('kind=acquisition')
    t.equal(
      isAcquisition ? parsed.Navigation : parsed.Publications,
      undefined,
      `one kind of items: ${Href}`,
    )
    const items = parsed.Publications ?? parsed.Navigation ?? []
    t.equal((await palaceFeed(xml)).entries.length, items.length)
    t.equal(parsed.Links.find(link => link.Rel?.[0] === 'self')!.Href, Href)
  }
})

t.test('the entry document of a book matches its entry in feeds', async t => {
  const pdf = await bookOf('report.pdf')
  const entry = await text(`/opds/v1/books/${pdf.id}`)
  t.equal(entry.status, 200)
  t.equal(entry.type, feedType)
  t.match(entry.headers.get('vary'), /Authorization/i)
  t.same(relaxErrors(entry.xml), [])
  const book = thoriumEntry(entry.xml)
  t.equal(book.Metadata.Identifier, `urn:uuid:${pdf.id}`)
  const rels = Object.fromEntries(book.Links.map(link => [link.Rel![0], link]))
  t.match(rels.self, {
    Href: `${all.base}/opds/v1/books/${pdf.id}`,
    TypeLink: 'application/atom+xml;type=entry;profile=opds-catalog',
  })
  t.match(rels['http://opds-spec.org/acquisition'], {
    Href: `${all.base}/opds/v1/books/${pdf.id}/file/report.pdf`,
    TypeLink: 'application/pdf',
  })
  t.match(rels['http://vaemendis.net/opds-pse/stream'], { TypeLink: 'image/jpeg' })
  const palace = await palaceEntry(entry.xml)
  t.equal(palace.constructor.name, 'OPDSEntry', 'a complete entry')
  const { xml } = await text(`/opds/v1/series/${pdf.series}`)
  const [inFeed] = (await palaceFeed(xml)).entries
  t.equal(inFeed!.id, palace.id)
  t.equal(inFeed!.updated, palace.updated)
})

t.test('an unreadable file can only be downloaded', async t => {
  const [broken] = await sql<{ id: string }[]>`select id from book where error_code is not null`
  const { xml, status } = await text(`/opds/v1/books/${broken!.id}`)
  t.equal(status, 200)
  t.same(relaxErrors(xml), [])
  t.match(xml, 'rel="http://opds-spec.org/acquisition"')
  t.notMatch(xml, 'opds-pse/stream')
})

t.test('a book is updated when its series is renamed, not when the series grows', async t => {
  const { id, series } = await bookOf('2.cbz')
  const updated = async () => {
    const feed = thoriumFeed((await text(`/opds/v1/series/${series}`)).xml)
    const entry = thoriumEntry((await text(`/opds/v1/books/${id}`)).xml)
    const inFeed = feed.Publications!.find(book => book.Metadata.Identifier === `urn:uuid:${id}`)!
    t.same(inFeed.Metadata.Modified, entry.Metadata.Modified)
    return { feed: Number(feed.Metadata.Modified), book: Number(entry.Metadata.Modified) }
  }
  const before = await updated()
  const [library] = all.libraries
  const [row] = await sql<{ name: string }[]>`select name from series where id = ${series}`
  library!.write(`${row!.name}/3.cbz`, comic({ pages: 1 }))
  // Times in feeds are whole seconds.
  await sleep(1_100)
  await library!.scan()
  const grown = await updated()
  t.equal(grown.book, before.book)
  t.ok(grown.feed > before.feed)
  await sleep(1_100)
  await admin.patch(`/series/${series}/metadata`, { title: 'Another title' })
  const renamed = await updated()
  t.ok(renamed.book > grown.feed)
  t.equal(renamed.feed, renamed.book)
})

t.test('links use the tree of the request', async t => {
  const { id } = await bookOf('report.pdf')
  const { xml } = await text(`/opds/v1.2/books/${id}`)
  const links = [...xml.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
  t.ok(
    links.every(href => href.startsWith(`${all.base}/opds/v1.2/books/`) || /\/series\//.test(href)),
  )
  t.notMatch(xml, '/opds/v1/')
  t.equal(thoriumEntry(xml).Metadata.Identifier, `urn:uuid:${id}`)
})

t.test('hidden books are not found, and stream links require the permission', async t => {
  const hidden = await sql<{ id: string }[]>`
    select b.id from book b join series s on s.id = b.series_id where s.name = 'Hidden'`
  const reader = await all.createUser('reader')
  const [restricted] = hidden
  t.equal((await text(`/opds/v1/books/${restricted!.id}`, reader)).status, 200)
  await admin.put(`/users/${reader.id}/sharing-tags`, {
    sharingTagId: all.secretTag,
    accessMode: 'deny',
  })
  t.equal((await text(`/opds/v1/books/${restricted!.id}`, reader)).status, 404)
  const { id } = await bookOf('report.pdf')
  t.match((await text(`/opds/v1/books/${id}`, reader)).xml, 'opds-pse/stream')
  const permissions = ['LibrariesRead', 'SeriesRead', 'BooksRead']
  const key = await reader.post('/api-keys', { name: 'downloads', permissions })
  const downloads = await text(
    `/opds/v1/books/${id}`,
    all.withHeaders({ 'x-api-key': key.body.key }),
  )
  t.same([downloads.status, relaxErrors(downloads.xml)], [200, []])
  t.notMatch(downloads.xml, 'opds-pse/stream')
  t.equal((await text('/opds/v1/books/00000000-0000-0000-0000-000000000000')).status, 404)
  t.equal((await text(`/opds/v1/books/${id}`, anyone)).status, 401)
})

t.test('the search description is public, also with HEAD', async t => {
  const { xml, type, headers } = await text('/opds/v1/search.xml', anyone)
  t.equal(type, 'application/opensearchdescription+xml;charset=utf-8')
  const document = use(t, XmlDocument.fromString(xml))
  const namespaces = { os: 'http://a9.com/-/spec/opensearch/1.1/' }
  const find = (path: string) => document.root.find(path, namespaces).map(node => node.content)
  t.same(find('/os:OpenSearchDescription/os:ShortName'), ['Stackroom'])
  t.same(find('os:Url/@template'), [
    `${all.base}/opds/v1/search?q={searchTerms}`,
    `${all.base}/opds/v1/series?search={searchTerms}`,
  ])
  const head = await anyone.request('HEAD', '/opds/v1/search.xml')
  t.equal(head.status, 200)
  t.equal(head.bytes.length, 0)
  for (const name of ['content-type', 'etag', 'content-length'])
    t.equal(head.headers.get(name), headers.get(name), name)
  await admin.put('/admin/settings/application.name', { value: 'Books & more & yet more' })
  const { xml: renamed } = await text('/opds/v1.2/search.xml', anyone)
  t.match(renamed, '<ShortName>Books &amp; more &amp; y</ShortName>')
  t.match(renamed, '/opds/v1.2/search?q={searchTerms}')
})
