import t from 'tap'
import { shelve } from '../kit/library.ts'
import { comicOf, epubOf, report } from '../kit/opds/books.ts'
import { blanks } from '../kit/opds/empty-values.ts'
import { schemaErrors } from '../kit/opds/schemas.ts'
import { parsedFeed, parsedPublication, parsedSignIn } from '../kit/opds/thorium-json.ts'
import { serve } from '../kit/server.ts'

t.test('documents of a library of every format', async t => {
  const all = await serve(t)
  const info = { Series: 'Comics', Number: 2, Title: '<Night> & "day"', Writer: 'Ann Writer' }
  const shelf = await shelve(t, all, {
    'Comics/mixed.cbz': await comicOf(['jpeg', 'webp', 'png'], info),
    'Comics/broken.cbz': Buffer.from('this is no archive'),
    'Paper/report.pdf': report(),
    'Text/fixed.epub': await epubOf({ title: 'Fixed', fixed: true }),
    'Text/flow.epub': await epubOf({ title: 'Flow', fixed: false }),
  })
  await shelf.scan()
  const reader = await all.as('reader')
  const idOf = async (name: string) => (await shelf.book(name)).id
  const [comic, broken] = [await idOf('mixed.cbz'), await idOf('broken.cbz')]
  const [pdf, fixed, flow] = [
    await idOf('report.pdf'),
    await idOf('fixed.epub'),
    await idOf('flow.epub'),
  ]
  const at = `${all.base}/opds/v2`
  const below = (href: string) => href.slice(all.base.length)

  t.test('anyone learns how to sign in', async t => {
    const { status, headers, body } = await all.anyone.get('/opds/v2/auth')
    t.equal(status, 200)
    t.equal(headers.get('content-type'), 'application/opds-authentication+json')
    t.same(schemaErrors('authentication', body), [])
    t.same(blanks(body), [])
    const parsed = parsedSignIn(body)
    t.equal(parsed.Id, `${at}/auth`, 'is its own address')
    t.equal(parsed.Title, 'Stackroom')
    t.equal(parsed.Authentication[0]!.Type, 'http://opds-spec.org/auth/basic')
    t.match(parsed.Authentication[0]!.Labels, { Login: /./, Password: /./ })
    t.equal((await all.anyone.ask('HEAD', '/opds/v2/auth')).status, 200)
  })

  t.test('a book is told alone as in its feeds, and all its links answer', async t => {
    await reader.put(`/books/${comic}/progress`, { currentPage: 1 })
    const feed = (await reader.get('/opds/v2/keep-reading')).body
    t.same(schemaErrors('feed', feed), [])
    const [shown] = parsedFeed(feed).Publications!
    t.equal(shown!.Metadata.Title, 'Comics 2 - <Night> & "day"')
    for (const id of [comic, broken, pdf, fixed, flow]) {
      const { status, headers, body } = await reader.get(`/opds/v2/books/${id}`)
      t.equal(status, 200)
      t.equal(headers.get('content-type'), 'application/opds-publication+json')
      t.same([...schemaErrors('publication', body), ...blanks(body)], [])
      t.equal(parsedPublication(body).Metadata.Identifier, `urn:uuid:${id}`)
      if (id === comic) t.same(body, feed.publications[0])
      for (const link of [...body.links, ...body.images]) {
        const got = await reader.get(below(link.href))
        t.ok(got.status === 200 || got.status === 204, `${link.rel} ${got.status}`)
        if (got.status === 200) t.equal(got.headers.get('content-type'), link.type)
      }
    }
  })

  t.test(
    'Thorium finds in every feed what is in it, and every feed keeps to the schema',
    async t => {
      const seen = new Set<string>([at])
      const books = new Set<string>()
      for (const href of seen) {
        const { status, headers, body } = await reader.get(below(href))
        t.same([status, headers.get('content-type')], [200, 'application/opds+json'], href)
        t.same([...schemaErrors('feed', body), ...blanks(body)], [], href)
        const { Metadata, Links, Navigation = [], Publications = [], ...more } = parsedFeed(body)
        t.equal(Metadata.Title, body.metadata.title)
        t.equal(Links.find(link => link.Rel?.includes('self'))!.Href, href)
        t.equal(Publications.length, body.publications?.length ?? 0)
        const [facets, groups] = [more.Facets ?? [], more.Groups ?? []]
        const next = Links.filter(({ Rel }) =>
          Rel?.some(rel => rel === 'next' || rel === 'related'),
        )
        const ways = [...Navigation, ...next, ...[...facets, ...groups].flatMap(g => g.Links)]
        for (const link of ways) seen.add(link.Href)
        for (const book of Publications) books.add(book.Metadata.Identifier)
      }
      t.ok(seen.size > 15, `${seen.size} feeds`)
      t.same(books, new Set([comic, broken, pdf, fixed, flow].map(id => `urn:uuid:${id}`)))
    },
  )

  t.test('links stay in the tree by which the client came', async t => {
    const { body } = await reader.get(`/opds/v2.0/books/${comic}`)
    for (const { href } of [...body.links, ...body.images])
      t.ok(href.startsWith(`${all.base}/opds/v2.0/books/${comic}`), href)
  })

  t.test('a comic is read page by page, and every page is what it is said to be', async t => {
    const manifest = (await reader.get(`/opds/v2/books/${comic}/manifest/divina`)).body
    t.same([...schemaErrors('manifest', manifest), ...blanks(manifest)], [])
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
        const got = await reader.get(below(link.href))
        t.same([got.status, got.headers.get('content-type')], [200, link.type])
      }
    }
    t.match(manifest.readingOrder[1].alternate, [{ type: 'image/jpeg' }])
    t.notOk('alternate' in manifest.readingOrder[0])
    t.equal((await reader.get(below(manifest.resources[0].href))).status, 200)
    for (const link of manifest.links)
      t.ok([200, 204].includes((await reader.get(below(link.href))).status), link.rel)
  })

  t.test('every book has the manifests of its format and no others', async t => {
    const had = async (id: string) => {
      const found: Record<string, unknown> = {}
      for (const profile of ['', '/divina', '/pdf', '/epub']) {
        const { status, headers, body } = await reader.get(
          `/opds/v2/books/${id}/manifest${profile}`,
        )
        found[profile] = status === 200 ? headers.get('content-type')!.split('/')[1] : status
        if (status === 200) t.same([...schemaErrors('manifest', body), ...blanks(body)], [])
      }
      return Object.values(found)
    }
    t.same(await had(comic), ['divina+json', 'divina+json', 404, 404])
    t.same(await had(pdf), ['webpub+json', 'divina+json', 'webpub+json', 404])
    t.same(await had(fixed), ['webpub+json', 'divina+json', 404, 'webpub+json'])
    t.same(await had(flow), ['webpub+json', 404, 404, 'webpub+json'])
    t.same(await had(broken), [404, 404, 404, 404])
  })

  t.test('the manifest of a PDF leads to its file', async t => {
    const { readingOrder } = (await reader.get(`/opds/v2/books/${pdf}/manifest`)).body
    t.match(readingOrder, [{ type: 'application/pdf' }])
    const got = await reader.get(below(readingOrder[0].href))
    t.equal(got.headers.get('content-type'), 'application/pdf')
    t.equal(got.bytes.subarray(0, 5).toString(), '%PDF-')
  })

  t.test('without the permission for pages no manifest is offered nor given', async t => {
    const permissions = ['LibrariesRead', 'SeriesRead', 'BooksRead']
    const { key } = (await reader.post('/api-keys', { name: 'feeds', permissions })).body
    const app = all.with({ 'x-api-key': key })
    const { body } = await app.get(`/opds/v2/books/${comic}`)
    t.same(
      body.links.map((link: any) => link.rel),
      ['self', 'http://opds-spec.org/acquisition'],
    )
    t.equal((await app.get(`/opds/v2/books/${comic}/manifest`)).status, 403)
  })

  t.test('who is given a manifest may follow its links', async t => {
    const lent = async (permissions: string[]) => {
      const { key } = (await reader.post('/api-keys', { name: 'lent', permissions })).body
      return all.with({ 'x-api-key': key })
    }
    const some = await lent(['BooksRead', 'PagesRead'])
    const enough = await lent(['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead'])
    for (const id of [comic, pdf, flow]) {
      const at = `/opds/v2/books/${id}/manifest`
      const { body } = await enough.get(at)
      const self = body.links[0].href
      t.same((await enough.get(below(self))).body, body, 'as its own address says')
      for (const path of [at, below(self)]) t.equal((await some.get(path)).status, 403, path)
      const series = body.metadata.belongsTo.series[0].links
      for (const { href } of [...body.links, ...body.readingOrder, ...body.resources, ...series])
        t.ok([200, 204].includes((await enough.get(below(href))).status), href)
    }
  })

  t.test('a hidden book is not there', async t => {
    const admin = await all.as('admin')
    const { id: tag } = (await admin.post('/admin/sharing-tags', { name: 'secret' })).body
    const { seriesId } = await shelf.book('mixed.cbz')
    await admin.post(`/series/${seriesId}/sharing-tags`, { sharingTagId: tag })
    const stranger = await all.as('reader')
    await admin.put(`/users/${stranger.id}/sharing-tags`, {
      sharing_tag_id: tag,
      access_mode: 'deny',
    })
    for (const path of ['', '/manifest', '/manifest/divina'])
      t.equal((await stranger.get(`/opds/v2/books/${comic}${path}`)).status, 404, path)
    t.equal((await stranger.get(`/opds/v2/books/${pdf}`)).status, 200)
  })
})
