// Progression between reading apps, and between apps and the rest of the API.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { eventsSince, lastEvent } from '../../kit/events.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { richEpub } from '../../kit/opds/epub.ts'
import { startApi } from '../../kit/server.ts'

const paper = pdfOf([
  '<</Type/Catalog/Pages 2 0 R>>',
  '<</Type/Pages/Count 2/Kids[3 0 R 3 0 R]>>',
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
  stream('', '0 0 1 rg 20 20 100 100 re f'),
])

const device = { id: 'urn:uuid:0d5d5b9c-2f58-5c26-9a1e-5a9a1f1c0fff', name: 'Tëst' }
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

test('progression', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Akira/1.cbz': comic({ pages: 10 }),
    'Akira/2.cbz': comic({ pages: 2 }),
    'Book/rich.epub': richEpub(),
    'Book/paper.pdf': paper,
    'Book/broken.cbz': Buffer.from('no archive'),
  })
  await library.scan()
  const book = await library.book('1.cbz')
  const pathOf = (id: string) => `/opds/v2/books/${id}/progression`
  const path = pathOf(book.id)
  const page = (n: number) => `${all.base}/opds/v2/books/${book.id}/pages/${n}`
  const put = (modified: string, locations: object | null, href = page(1), more: object = {}) => ({
    modified,
    device,
    locator: { href, type: 'image/png', ...(locations ? { locations } : {}), ...more },
  })

  await t.test('there is none at first, then the stored one, unchanged', async t => {
    const reader = await all.createUser('reader')
    const none = await reader.get(path)
    t.same([none.status, none.bytes.length], [204, 0])
    const written = put(ago(60), { position: 4, totalProgression: 0.4, 'x-app': [1] }, page(4), {
      title: 'Akira — 4',
      text: { before: 'a', highlight: '“b”' },
    })
    const stored = await reader.put(path, written)
    t.same([stored.status, stored.bytes.length], [204, 0])
    const { status, body, headers } = await reader.get(path)
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^application\/vnd\.readium\.progression\+json\b/)
    t.same(body, written)
    t.equal(
      JSON.stringify(body.locator),
      JSON.stringify(written.locator),
      'in the order of members',
    )
    t.match((await reader.get(`/books/${book.id}/progress`)).body, {
      currentPage: 4,
      completed: false,
      updatedAt: written.modified,
    })
    t.equal((await (await all.createUser('reader')).get(path)).status, 204, 'only for this account')
  })

  await t.test('older progress is 409, equal and newer progress is stored', async t => {
    const reader = await all.createUser('reader')
    const time = ago(60)
    const before = await lastEvent(all.sql)
    t.equal((await reader.put(path, put(time, { position: 5 }))).status, 204)
    const older = await reader.put(path, put(ago(61), { position: 2 }))
    t.match([older.status, older.body.error], [409, 'Conflict'])
    t.equal((await reader.get(path)).body.locator.locations.position, 5)
    t.match(await eventsSince(all.sql, before), [
      { type: 'progress_updated', book: book.id, account: reader.id },
    ])
    t.equal((await reader.put(path, put(time, { position: 5 }))).status, 204)
    const offset = ago(30).replace('Z', '+00:00')
    t.equal((await reader.put(path, put(offset, { position: 6 }))).status, 204)
    t.equal((await reader.get(`/books/${book.id}/progress`)).body.currentPage, 6)
  })

  await t.test(
    'later progress from elsewhere is returned, and older progress is rejected',
    async t => {
      const reader = await all.createUser('reader')
      await reader.put(path, put(ago(60), { position: 5 }))
      await reader.put(`/books/${book.id}/progress`, { currentPage: 8 })
      const { body } = await reader.get(path)
      t.match(body.locator, {
        href: page(8),
        type: 'image/png',
        locations: { position: 8, totalProgression: 0.8 },
      })
      t.equal(typeof body.device.id, 'string')
      t.equal((await reader.put(path, put(ago(30), { position: 6 }))).status, 409)
      t.equal(
        (await reader.put(path, { ...body, device })).status,
        204,
        'a received progression can be sent back',
      )
      t.equal((await reader.get(`/books/${book.id}/progress`)).body.currentPage, 8)
    },
  )

  await t.test('times are compared at the precision of the client, in both places', async t => {
    const reader = await all.createUser('reader')
    const stored = new Date('2026-01-02T12:00:00.987Z')
    const truncated = (digits: number, steps: number) => {
      const step = 10 ** (3 - digits)
      return new Date((Math.floor(stored.getTime() / step) - steps) * step).toISOString()
    }
    for (const place of [path, `/books/${book.id}/progression`])
      for (const digits of [0, 1, 2, 3])
        for (const isPadded of [false, true])
          for (const [steps, expected] of [
            [0, 204],
            [1, 409],
          ] as const) {
            const full = truncated(digits, steps)
            const cut = digits === 0 ? `${full.slice(0, 19)}Z` : `${full.slice(0, 20 + digits)}Z`
            await reader.put(`/books/${book.id}/progress`, { currentPage: 3 })
            await all.sql`
              update progress set updated_at = '2026-01-02T12:00:00.987654Z'
              where account_id = ${reader.id}`
            const update = put(isPadded ? full : cut, { position: 6 })
            t.equal(
              (await reader.put(place, update)).status,
              expected,
              `${place} ${update.modified}`,
            )
          }
    const stranger = await all.createUser('reader', { username: 'hidden-from' })
    await all.sql`update account set all_libraries = false where id = ${stranger.id}`
    const place = `/books/${book.id}/progression`
    t.equal((await stranger.get(place)).status, 404)
    t.equal((await stranger.put(place, put(ago(1), { position: 2 }))).status, 404)
    t.equal((await reader.get(place)).body.locator.locations.position, 3)
    t.match((await reader.get(place)).headers.get('content-type'), /^application\/json/)
  })

  await t.test('a time in the future counts as now', async t => {
    const reader = await all.createUser('reader')
    t.equal((await reader.put(path, put(ago(-3600), { position: 5 }))).status, 204)
    const { modified } = (await reader.get(path)).body
    t.ok(modified <= ago(-1), modified)
    t.equal(
      (await reader.put(path, put(new Date(Date.now() + 5).toISOString(), { position: 6 }))).status,
      204,
    )
  })

  await t.test('a page is determined by position, URL or total progression', async t => {
    const reader = await all.createUser('reader')
    for (const [locator, expectedPage] of [
      [[{ position: 7, totalProgression: 0.1 }], 7],
      [[null, page(3)], 3],
      [[{}, `/opds/v2/books/${book.id}/pages/4?width=100#x`], 4],
      [[{ totalProgression: 0.55 }, 'anything'], 6],
      [[{ totalProgression: 0 }, 'anything'], 1],
      [[{ position: 10 }], 10],
    ] as const) {
      const [locations, href] = locator
      const response = await reader.put(path, put(ago(0), locations, href))
      t.equal(response.status, 204, JSON.stringify(locator))
      const { body } = await reader.get(`/books/${book.id}/progress`)
      t.match(body, { currentPage: expectedPage, completed: expectedPage === 10 })
    }
    const { id } = await library.book('paper.pdf')
    const file = `/opds/v2/books/${id}/file/paper.pdf`
    const fragments = await reader.put(pathOf(id), put(ago(1), { fragments: ['page=2'] }, file))
    t.equal(fragments.status, 204)
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 2, completed: true })
    const image = `https://host.example/komga/api/v1/books/${id}/pages/1/raw`
    t.equal((await reader.put(pathOf(id), put(ago(0), null, image))).status, 204)
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 1 })
    await reader.put(`/books/${id}/progress`, { currentPage: 1 })
    t.match((await reader.get(pathOf(id))).body.locator, {
      href: new RegExp(`${file}$`),
      type: 'application/pdf',
      locations: { position: 1, totalProgression: 0.5, fragments: ['page=1'] },
    })
  })

  await t.test(
    'a stored locator contains no key and no host, and is returned in the tree of the request',
    async t => {
      const owner = await all.createUser('reader')
      const permissions = ['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead', 'ProgressWrite']
      await all.sql`update api_key set permissions = ${permissions} where account_id = ${owner.id}`
      const keyed = await all.startAnother({
        settings: { 'opds.key_in_path': true, 'rate_limit.enabled': false },
      })
      const tree = `${keyed.base}/opds/k/${owner.key}/v2`
      const stored = async () => {
        const [row] = await all.sql`
        select device, locator from book_locator where account_id = ${owner.id}`
        return row!
      }
      const { positions } = (await (
        await fetch(`${tree}/books/${book.id}/positions`)
      ).json()) as any
      t.ok(positions[1].href.includes(owner.key))
      const written = {
        modified: ago(60),
        device: { id: tree, name: 'By path' },
        locator: { ...positions[1], title: `of ${owner.key}`, 'x-next': [positions[2].href] },
      }
      const { status } = await fetch(`${tree}/books/${book.id}/progression`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(written),
      })
      t.equal(status, 204)
      t.notMatch(JSON.stringify(await stored()), owner.key)
      t.equal((await stored()).locator.href, `/books/${book.id}/pages/2`)
      for (const [root, headers] of [
        [`${all.base}/opds/v2`, { 'x-api-key': owner.key }],
        [`${all.base}/opds/v2.0`, { 'x-api-key': owner.key }],
        [tree, {}],
      ] as const) {
        const response = await fetch(`${root}/books/${book.id}/progression`, {
          headers: { ...headers },
        })
        const { locator } = (await response.json()) as any
        t.equal(locator.href, `${root}/books/${book.id}/pages/2`)
        t.same(locator.locations, positions[1].locations)
      }

      await all.sql`update book_locator set device = ${all.sql.json(written.device)},
      locator = ${all.sql.json(written.locator)} where account_id = ${owner.id}`
      const { body } = await owner.get(path)
      t.notMatch(JSON.stringify(body), owner.key, 'also in data stored before')
      t.equal(body.locator.href, page(2))
    },
  )

  await t.test('URLs of other servers and names in a book are not changed', async t => {
    const reader = await all.createUser('reader')
    const { id } = await library.book('rich.epub')
    const hrefAt = async (path: string) => (await reader.get(path)).body.locator.href
    for (const href of ['OPS/Text/%E6%97%A5%E6%9C%AC.xhtml#p7', 'Text/one%20%26%20two.xhtml']) {
      t.equal((await reader.put(pathOf(id), put(ago(0), { progression: 0 }, href))).status, 204)
      t.equal(await hrefAt(pathOf(id)), href)
    }
    const other = 'https://komga.example/opds/v2/books/0ABCDEFGHJKMN/pages/3?x=1'
    t.equal((await reader.put(path, put(ago(0), { position: 3 }, other))).status, 204)
    t.equal(await hrefAt(path), other)
    const streamed = `https://old.example/base/opds/v1.2/books/${book.id}/pages/3`
    t.equal((await reader.put(path, put(ago(0), null, streamed))).status, 204)
    t.equal(await hrefAt(path), page(4), 'OPDS 1.2 counts pages from 0')
    t.equal((await reader.get(`/books/${book.id}/progress`)).body.currentPage, 4)
  })

  await t.test(
    'the total progression of a page is the same in positions and progression',
    async t => {
      const reader = await all.createUser('reader')
      const { id } = await library.book('paper.pdf')
      for (const [bookId, count] of [
        [book.id, 10],
        [id, 2],
      ] as const) {
        const { positions } = (await reader.get(`/opds/v2/books/${bookId}/positions`)).body
        for (let current = 1; current <= count; current++) {
          const { totalProgression } = positions[current - 1].locations
          const update = put(ago(0), { totalProgression }, 'anything')
          t.equal((await reader.put(pathOf(bookId), update)).status, 204)
          t.equal((await reader.get(`/books/${bookId}/progress`)).body.currentPage, current)
          await reader.put(`/books/${bookId}/progress`, { currentPage: current })
          t.same((await reader.get(pathOf(bookId))).body.locator, positions[current - 1])
        }
      }
    },
  )

  await t.test('empty values are left out, and URLs are percent-encoded', async t => {
    const reader = await all.createUser('reader')
    const { id } = await library.book('rich.epub')
    const written = put(
      ago(60),
      { position: null, fragments: [], progression: 0.5 },
      'Text/日本.xhtml',
      {
        title: '',
        text: { before: null, highlight: 'b' },
      },
    )
    t.equal((await reader.put(pathOf(id), written)).status, 204)
    t.same((await reader.get(pathOf(id))).body.locator, {
      href: 'Text/%E6%97%A5%E6%9C%AC.xhtml',
      type: 'image/png',
      locations: { progression: 0.5 },
      text: { highlight: 'b' },
    })
  })

  await t.test('invalid progressions are rejected and change nothing', async t => {
    const reader = await all.createUser('reader')
    const good = put(ago(1), { position: 1 })
    for (const bad of [
      {},
      { ...good, modified: 'yesterday' },
      { ...good, modified: 12 },
      { ...good, device: 'phone' },
      { ...good, device: undefined },
      { ...good, device: { id: 'a', name: ' ' } },
      { ...good, device: { id: '', name: 'a' } },
      { ...good, locator: 'page 3' },
      put(ago(1), { position: 1 }, page(1), { type: undefined }),
      put(ago(1), { position: 1 }, page(1), { type: '' }),
      put(ago(1), { position: 1 }, page(1), { title: 12 }),
      put(ago(1), { position: 1 }, page(1), { text: 'before' }),
      put(ago(1), { position: 1 }, ' '),
      { ...good, locator: null },
      put(ago(1), { position: 0 }),
      put(ago(1), { position: 11 }),
      put(ago(1), { position: 1.5 }),
      put(ago(1), { position: '3' }),
      put(ago(1), { totalProgression: 1.1 }),
      put(ago(1), { progression: -0.1 }, 'x'),
      put(ago(1), null, 'nowhere'),
      put(ago(1), null, page(11)),
      put(ago(1), null, page(3).replace(book.id, '00000000-0000-7000-8000-00000000dead')),
      put(ago(1), { position: 1 }, page(1), { text: { before: 'x'.repeat(9000) } }),
      put(ago(1), { position: 1 }, page(1), { title: 'a\0b' }),
      put(ago(1), { position: 1 }, page(1), { title: '\ud800' }),
    ])
      t.equal((await reader.put(path, bad)).status, 400, JSON.stringify(bad).slice(0, 200))
    t.equal((await reader.get(path)).status, 204)
    t.equal((await reader.get(`/books/${book.id}/progress`)).status, 204)
  })

  await t.test('JSON is accepted with each of its media types', async t => {
    const reader = await all.createUser('reader')
    for (const [type, status] of [
      ['application/json', 204],
      ['application/vnd.readium.progression+json', 204],
      ['application/vnd.readium.progression+json; charset=utf-8', 204],
      ['text/plain', 415],
    ] as const) {
      const raw = JSON.stringify(put(ago(0), { position: 2 }))
      const { status: got } = await reader.request('PUT', path, {
        raw,
        headers: { 'content-type': type },
      })
      t.equal(got, status, type)
    }
  })

  await t.test('marking as unread deletes the locator of the app, too', async t => {
    const reader = await all.createUser('reader')
    const countStored = () =>
      all.sql`select 1 from book_locator where account_id = ${reader.id}`.then(rows => rows.length)
    for (const markUnread of [
      () => reader.post(`/books/${book.id}/unread`),
      () => reader.delete(`/books/${book.id}/progress`),
      () => reader.post(`/series/${book.seriesId}/unread`),
    ]) {
      t.equal((await reader.put(path, put(ago(0), { position: 2 }))).status, 204)
      t.equal(await countStored(), 1)
      await markUnread()
      t.equal(await countStored(), 0)
      t.equal((await reader.get(path)).status, 204)
    }
    await reader.post(`/series/${book.seriesId}/read`)
    t.match((await reader.get(path)).body.locator.locations, { position: 10, totalProgression: 1 })
  })

  await t.test('an unreadable book has a progression, too', async t => {
    const reader = await all.createUser('reader')
    const { id } = await library.book('broken.cbz')
    t.equal((await reader.put(pathOf(id), put(ago(1), { position: 3 }))).status, 204)
    await reader.put(`/books/${id}/progress`, { completed: true })
    t.match((await reader.get(pathOf(id))).body.locator, {
      href: /broken\.cbz$/,
      locations: { totalProgression: 1 },
    })
  })

  await t.test('a server without a name has one as a device', async t => {
    const [reader, admin] = [await all.createUser('reader'), await all.createUser('admin')]
    await reader.put(`/books/${book.id}/progress`, { currentPage: 3 })
    await admin.put('/admin/settings/application.name', { value: ' ' })
    t.same((await reader.get(path)).body.device, { id: all.base, name: 'Library' })
    await admin.delete('/admin/settings/application.name')
  })

  await t.test('an API key in the name of a device is not stored', async t => {
    const reader = await all.createUser('reader')
    const named = { id: `urn:${reader.key}`, name: `Kobo at ${all.base}/opds/k/${reader.key}/v2` }
    const written = { ...put(ago(0), { position: 2 }), device: named }
    t.equal((await reader.put(path, written)).status, 204)
    const { devices } = (await reader.get('/reading-stats')).body
    t.match(devices, [{ deviceName: /^Kobo at / }])
    t.notMatch(JSON.stringify(devices), reader.key.slice(-32))
  })

  await t.test('hidden books are not found, and authentication is required', async t => {
    const restricted = await all.createUser('reader')
    await restricted.put(path, put(ago(0), { position: 2 }))
    await hideSeries(all.sql, restricted.id, [book.seriesId])
    t.equal((await restricted.get(path)).status, 404)
    t.equal((await restricted.put(path, put(ago(0), { position: 3 }))).status, 404)
    t.equal((await all.anonymous.get(path)).status, 401)
  })

  await t.test('of many concurrent writes the newest remains', async t => {
    const reader = await all.createUser('reader')
    const times = Array.from({ length: 20 }, (_, i) => ({
      time: ago(100 - i),
      position: (i % 9) + 1,
    }))
    const responses = await Promise.all(
      times.toReversed().map(({ time, position }) => reader.put(path, put(time, { position }))),
    )
    for (const { status } of responses) t.ok(status === 204 || status === 409, String(status))
    const { body } = await reader.get(path)
    t.same([body.modified, body.locator.locations.position], [times[19]!.time, times[19]!.position])
  })
})
