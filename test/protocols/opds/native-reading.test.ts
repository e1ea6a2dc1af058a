// Manifests, positions and resources of books below /api/v1, for the web application.
import { test } from 'tap'
import { createAccount } from '../../../lib/accounts/account.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { epubOf, item, page, richEpub, xhtml } from '../../kit/opds/epub.ts'
import { schemaErrors } from '../../kit/opds/schemas.ts'
import { startApi } from '../../kit/server.ts'

const sides = [
  'page-spread-right',
  'x rendition:page-spread-left',
  '',
  'rendition:page-spread-center rendition:spread-none',
  'rendition:layout-reflowable',
]
const spreads = epubOf({
  metadata:
    '<meta property="rendition:layout">pre-paginated</meta><meta property="rendition:spread">portrait</meta>',
  direction: 'rtl',
  manifest: sides.map((_, i) => item(`p${i}`, `p${i}.xhtml`, xhtml)).join(''),
  spine: sides.map((side, i) => `<itemref idref="p${i}" properties="${side}"/>`).join(''),
  files: Object.fromEntries(sides.map((_, i) => [`OPS/p${i}.xhtml`, page(`${i}`)])),
})

test('reading a book below /api/v1', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Rich/rich.epub': richEpub(),
    'Rich/spreads.epub': spreads,
    'Comic/comic.cbz': comic({ pages: 3 }),
  })
  await library.scan()
  const reader = await all.createUser('reader')
  const [epub, cbz] = await Promise.all([library.book('rich.epub'), library.book('comic.cbz')])
  const inApi = (id: string) => `${all.base}/api/v1/books/${id}/`
  const asNative = (document: unknown) =>
    JSON.parse(
      JSON.stringify(document).replaceAll(
        /\/opds\/v2(?=\/books\/[^/]+\/(?:manifest|positions|progression|resource|pages)\b)/g,
        '/api/v1',
      ),
    )

  await t.test('documents are those of the catalog, with addresses of the API', async t => {
    for (const path of [
      `${epub.id}/manifest`,
      `${epub.id}/manifest/epub`,
      `${epub.id}/positions`,
      `${cbz.id}/manifest/divina`,
      `${cbz.id}/positions`,
    ]) {
      const native = await reader.get(`/books/${path}`)
      const catalog = await reader.get(`/opds/v2/books/${path}`)
      t.equal(native.status, 200, path)
      t.equal(native.headers.get('content-type'), catalog.headers.get('content-type'))
      t.same(native.body, asNative(catalog.body), path)
      if (path.includes('manifest')) t.same(schemaErrors('manifest', native.body), [])
    }
    t.equal((await reader.get(`/books/${cbz.id}/manifest/epub`)).status, 404)
    t.equal((await reader.get(`/books/${cbz.id}/resource/a.css`)).status, 404)
  })

  await t.test('everything that is read of a book is reached with the cookie alone', async t => {
    const password = 'correct horse battery'
    await createAccount(all.sql, { username: 'ana', email: 'ana@example.org', password })
    const login = await all.anonymous.post('/auth/login', { username: 'ana', password })
    const headers = { cookie: login.headers.get('set-cookie')!.split(';')[0]! }
    const { body: manifest } = await reader.get(`/books/${epub.id}/manifest`)
    const links = manifest.links.filter(({ rel }: { rel: string }) => /self|position/.test(rel))
    for (const { href, type } of [...links, ...manifest.readingOrder, ...manifest.resources]) {
      const response = await fetch(href, { headers })
      t.equal(response.status, 200, href)
      t.ok(response.headers.get('content-type')!.startsWith(type), href)
      await response.body!.cancel()
    }
    t.equal((await fetch(`${inApi(epub.id)}manifest`)).status, 401)
    const [{ href }] = manifest.readingOrder
    t.equal((await fetch(href)).status, 401)
  })

  await t.test(
    'an EPUB has the direction and layout of its package, and what differs in its documents',
    async t => {
      const { id } = await library.book('spreads.epub')
      const { body: manifest } = await reader.get(`/books/${id}/manifest`)
      t.match(manifest.metadata, { layout: 'fixed', readingProgression: 'rtl' })
      t.same(
        manifest.readingOrder.map(({ properties }: { properties: object }) => properties),
        [
          { page: 'right', spread: 'both' },
          { page: 'left', spread: 'both' },
          { spread: 'both' },
          { page: 'center', spread: 'none' },
          { layout: 'reflowable', spread: 'both' },
        ],
      )
      const admin = await all.createUser('admin')
      const changed = await admin.patch(`/series/${epub.seriesId}/metadata`, {
        readingDirection: 'rtl',
      })
      t.equal(changed.status, 200)
      const text = (await reader.get(`/books/${epub.id}/manifest`)).body
      t.notOk(
        'readingProgression' in text.metadata,
        'text without a direction has that of its writing',
      )
      t.same(schemaErrors('manifest', manifest), [])
    },
  )

  await t.test('a locator that was written comes back with the address of its reader', async t => {
    const { body: manifest } = await reader.get(`/books/${epub.id}/manifest`)
    const { href, type } = manifest.readingOrder[1]
    const written = {
      modified: new Date(Date.now() - 1000).toISOString(),
      device: { id: 'web', name: 'Browser' },
      locator: { href, type, locations: { progression: 0.5 } },
    }
    t.equal((await reader.put(`/books/${epub.id}/progression`, written)).status, 204)
    t.same((await reader.get(`/books/${epub.id}/progression`)).body, written)
    const app = (await reader.get(`/opds/v2/books/${epub.id}/progression`)).body
    t.equal(app.locator.href, href.replace('/api/v1/', '/opds/v2/'))
  })
})
