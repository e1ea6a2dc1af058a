import t from 'tap'
import { createTestLibrary } from '../../kit/library.ts'
import { comicOf, epubOf, reportPdf } from '../../kit/opds/books.ts'
import { emptyValues } from '../../kit/opds/empty-values.ts'
import { schemaErrors } from '../../kit/opds/schemas.ts'
import { parsedAuthentication, parsedFeed, parsedPublication } from '../../kit/opds/thorium-json.ts'
import { startApi } from '../../kit/server.ts'

t.test('documents of a library of every format', async t => {
  const all = await startApi(t)
  const info = { Series: 'Comics', Number: 2, Title: '<Night> & "day"', Writer: 'Ann Writer' }
  const library = await createTestLibrary(t, all, {
    'Comics/mixed.cbz': await comicOf(['jpeg', 'webp', 'png'], info),
    'Comics/broken.cbz': Buffer.from('this is no archive'),
    'Paper/report.pdf': reportPdf(),
    'Text/fixed.epub': await epubOf({ title: 'Fixed', fixed: true }),
    'Text/flow.epub': await epubOf({ title: 'Flow', fixed: false }),
  })
  await library.scan()
  const reader = await all.createUser('reader')
  const idOf = async (name: string) => (await library.book(name)).id
  const [comic, broken] = [await idOf('mixed.cbz'), await idOf('broken.cbz')]
  const [pdf, fixed, flow] = [
    await idOf('report.pdf'),
    await idOf('fixed.epub'),
    await idOf('flow.epub'),
  ]
  const at = `${all.base}/opds/v2`
  const below = (href: string) => href.slice(all.base.length)

  t.test('the authentication document is public', async t => {
    const { status, headers, body } = await all.anonymous.get('/opds/v2/auth')
    t.equal(status, 200)
    t.equal(headers.get('content-type'), 'application/opds-authentication+json')
    t.same(schemaErrors('authentication', body), [])
    t.same(emptyValues(body), [])
    const parsed = parsedAuthentication(body)
    t.equal(parsed.Id, `${at}/auth`, 'its id is its URL')
    t.equal(parsed.Title, 'Stackroom')
    t.equal(parsed.Authentication[0]!.Type, 'http://opds-spec.org/auth/basic')
    t.match(parsed.Authentication[0]!.Labels, { Login: /./, Password: /./ })
    t.equal((await all.anonymous.request('HEAD', '/opds/v2/auth')).status, 200)
  })

  t.test('a publication document matches its feed entry, and all its links work', async t => {
    await reader.put(`/books/${comic}/progress`, { currentPage: 1 })
    const feed = (await reader.get('/opds/v2/keep-reading')).body
    t.same(schemaErrors('feed', feed), [])
    const [parsed] = parsedFeed(feed).Publications!
    t.equal(parsed!.Metadata.Title, 'Comics 2 - <Night> & "day"')
    for (const id of [comic, broken, pdf, fixed, flow]) {
      const { status, headers, body } = await reader.get(`/opds/v2/books/${id}`)
      t.equal(status, 200)
      t.equal(headers.get('content-type'), 'application/opds-publication+json')
      t.same([...schemaErrors('publication', body), ...emptyValues(body)], [])
      t.equal(parsedPublication(body).Metadata.Identifier, `urn:uuid:${id}`)
      if (id === comic) t.same(body, feed.publications[0])
      for (const link of [...body.links, ...body.images]) {
        const response = await reader.get(below(link.href))
        // What is no archive at all is not handed out.
        const isDamaged = id === broken && link.rel === 'http://opds-spec.org/acquisition'
        const expected = isDamaged ? [200, 422] : [200, 204]
        t.ok(expected.includes(response.status), `${link.rel} ${response.status}`)
        if (response.status === 200) t.equal(response.headers.get('content-type'), link.type)
      }
    }
  })

  t.test('every feed matches the JSON Schema and is complete for Thorium', async t => {
    const seen = new Set<string>([at])
    const books = new Set<string>()
    for (const href of seen) {
      const { status, headers, body } = await reader.get(below(href))
      t.same([status, headers.get('content-type')], [200, 'application/opds+json'], href)
      t.same([...schemaErrors('feed', body), ...emptyValues(body)], [], href)
      const { Metadata, Links, Navigation = [], Publications = [], ...more } = parsedFeed(body)
      t.equal(Metadata.Title, body.metadata.title)
      t.equal(Links.find(link => link.Rel?.includes('self'))!.Href, href)
      t.equal(Publications.length, body.publications?.length ?? 0)
      const [facets, groups] = [more.Facets ?? [], more.Groups ?? []]
      const next = Links.filter(({ Rel }) => Rel?.some(rel => rel === 'next' || rel === 'related'))
      const followed = [
        ...Navigation,
        ...next,
        ...[...facets, ...groups].flatMap(group => group.Links),
      ]
      for (const link of followed) seen.add(link.Href)
      for (const book of Publications) books.add(book.Metadata.Identifier)
    }
    t.ok(seen.size > 15, `${seen.size} feeds`)
    t.same(books, new Set([comic, broken, pdf, fixed, flow].map(id => `urn:uuid:${id}`)))
  })

  t.test('links use the tree of the request', async t => {
    const { body } = await reader.get(`/opds/v2.0/books/${comic}`)
    for (const { href } of [...body.links, ...body.images])
      t.ok(href.startsWith(`${all.base}/opds/v2.0/books/${comic}`), href)
  })

  t.test('the manifest of a comic lists its pages with their media types', async t => {
    const manifest = (await reader.get(`/opds/v2/books/${comic}/manifest/divina`)).body
    t.same([...schemaErrors('manifest', manifest), ...emptyValues(manifest)], [])
    t.equal(manifest['@context'], 'https://readium.org/webpub-manifest/context.jsonld')
    t.match(manifest.metadata.conformsTo, /divina$/)
    const types = ['image/jpeg', 'image/webp', 'image/png']
    t.same(
      manifest.readingOrder.map((page: any) => page.type),
      types,
    )
    for (const page of manifest.readingOrder) {
      t.ok(page.width > 0 && page.height > 0)
      for (const link of [page, ...(page.alternate ?? [])]) {
        const response = await reader.get(below(link.href))
        t.same([response.status, response.headers.get('content-type')], [200, link.type])
      }
    }
    t.match(manifest.readingOrder[1].alternate, [{ type: 'image/jpeg' }])
    t.notOk('alternate' in manifest.readingOrder[0])
    t.equal((await reader.get(below(manifest.resources[0].href))).status, 200)
    for (const link of manifest.links)
      t.ok([200, 204].includes((await reader.get(below(link.href))).status), link.rel)
  })

  t.test('every book has only the manifests of its format', async t => {
    const manifestTypes = async (id: string) => {
      const types: Record<string, unknown> = {}
      for (const profile of ['', '/divina', '/pdf', '/epub']) {
        const { status, headers, body } = await reader.get(
          `/opds/v2/books/${id}/manifest${profile}`,
        )
        types[profile] = status === 200 ? headers.get('content-type')!.split('/')[1] : status
        if (status === 200) t.same([...schemaErrors('manifest', body), ...emptyValues(body)], [])
      }
      return Object.values(types)
    }
    t.same(await manifestTypes(comic), ['divina+json', 'divina+json', 404, 404])
    t.same(await manifestTypes(pdf), ['webpub+json', 'divina+json', 'webpub+json', 404])
    t.same(await manifestTypes(fixed), ['webpub+json', 'divina+json', 404, 'webpub+json'])
    t.same(await manifestTypes(flow), ['webpub+json', 404, 404, 'webpub+json'])
    t.same(await manifestTypes(broken), [404, 404, 404, 404])
  })

  t.test('the manifest of a PDF links to its file', async t => {
    const { readingOrder } = (await reader.get(`/opds/v2/books/${pdf}/manifest`)).body
    t.match(readingOrder, [{ type: 'application/pdf' }])
    const response = await reader.get(below(readingOrder[0].href))
    t.equal(response.headers.get('content-type'), 'application/pdf')
    t.equal(response.bytes.subarray(0, 5).toString(), '%PDF-')
  })

  t.test(
    'without the permission for pages manifests are neither linked nor accessible',
    async t => {
      const permissions = ['LibrariesRead', 'SeriesRead', 'BooksRead']
      const { key } = (await reader.post('/api-keys', { name: 'feeds', permissions })).body
      const app = all.withHeaders({ 'x-api-key': key })
      const { body } = await app.get(`/opds/v2/books/${comic}`)
      t.same(
        body.links.map((link: any) => link.rel),
        ['self', 'http://opds-spec.org/acquisition'],
      )
      t.equal((await app.get(`/opds/v2/books/${comic}/manifest`)).status, 403)
    },
  )

  t.test('an account that can read a manifest can follow its links', async t => {
    const keyWith = async (permissions: string[]) => {
      const { key } = (await reader.post('/api-keys', { name: 'app', permissions })).body
      return all.withHeaders({ 'x-api-key': key })
    }
    const tooFew = await keyWith(['BooksRead', 'PagesRead'])
    const enough = await keyWith(['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead'])
    for (const id of [comic, pdf, flow]) {
      const at = `/opds/v2/books/${id}/manifest`
      const { body } = await enough.get(at)
      const self = body.links[0].href
      t.same((await enough.get(below(self))).body, body, 'the same as at its own URL')
      for (const path of [at, below(self)]) t.equal((await tooFew.get(path)).status, 403, path)
      const series = body.metadata.belongsTo.series[0].links
      for (const { href } of [...body.links, ...body.readingOrder, ...body.resources, ...series])
        t.ok([200, 204].includes((await enough.get(below(href))).status), href)
    }
  })

  t.test('a hidden book is not found', async t => {
    const admin = await all.createUser('admin')
    const { id: tag } = (await admin.post('/admin/sharing-tags', { name: 'secret' })).body
    const { seriesId } = await library.book('mixed.cbz')
    await admin.post(`/series/${seriesId}/sharing-tags`, { sharingTagId: tag })
    const restricted = await all.createUser('reader')
    await admin.put(`/users/${restricted.id}/sharing-tags`, {
      sharing_tag_id: tag,
      access_mode: 'deny',
    })
    for (const path of ['', '/manifest', '/manifest/divina'])
      t.equal((await restricted.get(`/opds/v2/books/${comic}${path}`)).status, 404, path)
    t.equal((await restricted.get(`/opds/v2/books/${pdf}`)).status, 200)
  })
})
