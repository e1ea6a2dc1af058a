// Where readers are, told to one reading app by another and by every other surface.
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { pdfOf, stream } from '../format/pdf/pdf-files.ts'
import { eventsSince, lastEvent } from '../kit/events.ts'
import { comic, shelve } from '../kit/library.ts'
import { rich } from '../kit/opds/epub.ts'
import { serve } from '../kit/server.ts'
import { hide } from '../kit/walk.ts'

const paper = pdfOf([
  '<</Type/Catalog/Pages 2 0 R>>',
  '<</Type/Pages/Count 2/Kids[3 0 R 3 0 R]>>',
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
  stream('', '0 0 1 rg 20 20 100 100 re f'),
])

const device = { id: 'urn:uuid:0d5d5b9c-2f58-5c26-9a1e-5a9a1f1c0fff', name: 'Tëst' }
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

test('progression', async t => {
  const all = await serve(t)
  const shelf = await shelve(t, all, {
    'Akira/1.cbz': comic({ pages: 10 }),
    'Akira/2.cbz': comic({ pages: 2 }),
    'Book/rich.epub': rich(),
    'Book/paper.pdf': paper,
    'Book/broken.cbz': Buffer.from('no archive'),
  })
  await shelf.scan()
  const book = await shelf.book('1.cbz')
  const at = (id: string) => `/opds/v2/books/${id}/progression`
  const path = at(book.id)
  const page = (n: number) => `${all.base}/opds/v2/books/${book.id}/pages/${n}`
  const put = (modified: string, locations: object | null, href = page(1), more: object = {}) => ({
    modified,
    device,
    locator: { href, type: 'image/png', ...(locations ? { locations } : {}), ...more },
  })

  await t.test('there is none at first, then what was stored, word for word', async t => {
    const reader = await all.as('reader')
    const none = await reader.get(path)
    t.same([none.status, none.bytes.length], [204, 0])
    const said = put(ago(60), { position: 4, totalProgression: 0.4, 'x-app': [1] }, page(4), {
      title: 'Akira — 4',
      text: { before: 'a', highlight: '“b”' },
    })
    const stored = await reader.put(path, said)
    t.same([stored.status, stored.bytes.length], [204, 0])
    const { status, body, headers } = await reader.get(path)
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^application\/vnd\.readium\.progression\+json\b/)
    t.same(body, said)
    t.match((await reader.get(`/books/${book.id}/progress`)).body, {
      currentPage: 4,
      completed: false,
      updatedAt: said.modified,
    })
    t.equal((await (await all.as('reader')).get(path)).status, 204, 'of this reader alone')
  })

  await t.test('older is 409, the same time again and newer are stored', async t => {
    const reader = await all.as('reader')
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

  await t.test('what was written elsewhere later is told, and older apps are refused', async t => {
    const reader = await all.as('reader')
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
    t.equal((await reader.put(path, { ...body, device })).status, 204, 'what was got can be sent')
    t.equal((await reader.get(`/books/${book.id}/progress`)).body.currentPage, 8)
  })

  await t.test('a clock that is ahead counts as now', async t => {
    const reader = await all.as('reader')
    t.equal((await reader.put(path, put(ago(-3600), { position: 5 }))).status, 204)
    const { modified } = (await reader.get(path)).body
    t.ok(modified <= ago(-1), modified)
    t.equal(
      (await reader.put(path, put(new Date(Date.now() + 5).toISOString(), { position: 6 }))).status,
      204,
    )
  })

  await t.test('a page is meant by its number, its address, or its share of the whole', async t => {
    const reader = await all.as('reader')
    for (const [locator, current] of [
      [[{ position: 7, totalProgression: 0.1 }], 7],
      [[null, page(3)], 3],
      [[{}, `/opds/v2/books/${book.id}/pages/4?width=100#x`], 4],
      [[{ totalProgression: 0.55 }, 'anything'], 6],
      [[{ totalProgression: 0 }, 'anything'], 1],
      [[{ position: 10 }], 10],
    ] as const) {
      const [locations, href] = locator
      const answer = await reader.put(path, put(ago(0), locations, href))
      t.equal(answer.status, 204, JSON.stringify(locator))
      const { body } = await reader.get(`/books/${book.id}/progress`)
      t.match(body, { currentPage: current, completed: current === 10 })
    }
    const { id } = await shelf.book('paper.pdf')
    const file = `/opds/v2/books/${id}/file/paper.pdf`
    const fragments = await reader.put(at(id), put(ago(1), { fragments: ['page=2'] }, file))
    t.equal(fragments.status, 204)
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 2, completed: true })
    await reader.put(`/books/${id}/progress`, { currentPage: 1 })
    t.match((await reader.get(at(id))).body.locator, {
      href: new RegExp(`${file}$`),
      type: 'application/pdf',
      locations: { position: 1, totalProgression: 0.5, fragments: ['page=1'] },
    })
  })

  await t.test('in an EPUB it is a resource and how far in it', async t => {
    const reader = await all.as('reader')
    const { id } = await shelf.book('rich.epub')
    const root = `${all.base}/opds/v2/books/${id}/resource/OPS/`
    const share = async () => (await reader.get(`/books/${id}/progress`)).body.progressPercentage
    // Three positions in the first, two in the second.
    for (const [href, locations, expected] of [
      [`${root}Text/one%20%26%20two.xhtml`, { progression: 0.5 }, 0.3],
      [`${root}Text/%E6%97%A5%E6%9C%AC.xhtml#p7`, { progression: 0.5, totalProgression: 0.1 }, 0.8],
      ['OPS/Text/日本.xhtml', { progression: 0 }, 0.6],
      ['Text/one%20%26%20two.xhtml', { totalProgression: 0.25 }, 0.25],
      ['/Text/one & two.xhtml', null, 0],
      [`${root}Text/note.xhtml`, { progression: 0.9, totalProgression: 0.4 }, 0.4],
      [`${root}Text/%E6%97%A5%E6%9C%AC.xhtml`, { progression: 1 }, 1],
    ] as const) {
      t.equal((await reader.put(at(id), put(ago(0), locations, href))).status, 204, href)
      t.equal(await share(), expected, `${href} ${JSON.stringify(locations)}`)
    }
    t.match((await reader.get(`/books/${id}/progress`)).body, { completed: true })
    for (const [href, locations] of [
      [`${root}nothing.xhtml`, { progression: 0.5 }],
      [`${root}nothing.xhtml`, { totalProgression: 0.5 }],
      [`${root}Text/note.xhtml`, { progression: 0.5 }],
      ['', { totalProgression: 0.5 }],
    ] as const)
      t.equal((await reader.put(at(id), put(ago(0), locations, href))).status, 400, href)
    await reader.put(`/books/${id}/progress`, { progressPercentage: 0.7 })
    t.match((await reader.get(at(id))).body.locator, {
      href: `${root}Text/%E6%97%A5%E6%9C%AC.xhtml`,
      type: 'application/xhtml+xml',
      locations: { progression: 0.25, position: 4, totalProgression: 0.7 },
    })
  })

  await t.test('a place keeps no key and no host, and is told in the tree that asks', async t => {
    const strong = await all.as('reader')
    const permissions = ['LibrariesRead', 'SeriesRead', 'BooksRead', 'PagesRead', 'ProgressWrite']
    await all.sql`update api_key set permissions = ${permissions} where account_id = ${strong.id}`
    const keyed = await all.another({
      settings: { 'opds.key_in_path': true, 'rate_limit.enabled': false },
    })
    const tree = `${keyed.base}/opds/k/${strong.key}/v2`
    const stored = async () => {
      const [row] = await all.sql`
        select device, locator from book_locator where account_id = ${strong.id}`
      return row!
    }
    const { positions } = (await (await fetch(`${tree}/books/${book.id}/positions`)).json()) as any
    t.ok(positions[1].href.includes(strong.key))
    const said = {
      modified: ago(60),
      device: { id: tree, name: 'By path' },
      locator: { ...positions[1], title: `of ${strong.key}`, 'x-next': [positions[2].href] },
    }
    const { status } = await fetch(`${tree}/books/${book.id}/progression`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(said),
    })
    t.equal(status, 204)
    t.notMatch(JSON.stringify(await stored()), strong.key)
    t.equal((await stored()).locator.href, `/books/${book.id}/pages/2`)
    for (const [at, headers] of [
      [`${all.base}/opds/v2`, { 'x-api-key': strong.key }],
      [`${all.base}/opds/v2.0`, { 'x-api-key': strong.key }],
      [tree, {}],
    ] as const) {
      const told = await fetch(`${at}/books/${book.id}/progression`, { headers: { ...headers } })
      const { locator } = (await told.json()) as any
      t.equal(locator.href, `${at}/books/${book.id}/pages/2`)
      t.same(locator.locations, positions[1].locations)
    }

    await all.sql`update book_locator set device = ${all.sql.json(said.device)},
      locator = ${all.sql.json(said.locator)} where account_id = ${strong.id}`
    const { body } = await strong.get(path)
    t.notMatch(JSON.stringify(body), strong.key, 'nor what was stored before')
    t.equal(body.locator.href, page(2))
    await all.sql.unsafe(
      readFileSync(new URL('../../sql/0011_locators.sql', import.meta.url), 'utf8'),
    )
    t.notMatch(JSON.stringify(await stored()), strong.key)
    t.same((await strong.get(path)).body, body, 'and all else is as it was')
  })

  await t.test('addresses of elsewhere and names in a book stay as they are', async t => {
    const reader = await all.as('reader')
    const { id } = await shelf.book('rich.epub')
    const told = async (at: string) => (await reader.get(at)).body.locator.href
    for (const href of ['OPS/Text/%E6%97%A5%E6%9C%AC.xhtml#p7', 'Text/one%20%26%20two.xhtml']) {
      t.equal((await reader.put(at(id), put(ago(0), { progression: 0 }, href))).status, 204)
      t.equal(await told(at(id)), href)
    }
    const other = 'https://komga.example/opds/v2/books/0ABCDEFGHJKMN/pages/3?x=1'
    t.equal((await reader.put(path, put(ago(0), { position: 3 }, other))).status, 204)
    t.equal(await told(path), other)
    const streamed = `https://old.example/base/opds/v1.2/books/${book.id}/pages/3`
    t.equal((await reader.put(path, put(ago(0), null, streamed))).status, 204)
    t.equal(await told(path), page(4), 'of OPDS 1.2 pages count from 0')
    t.equal((await reader.get(`/books/${book.id}/progress`)).body.currentPage, 4)
  })

  await t.test('the share of a page is the same wherever it is told', async t => {
    const reader = await all.as('reader')
    const { id } = await shelf.book('paper.pdf')
    for (const [bookId, count] of [
      [book.id, 10],
      [id, 2],
    ] as const) {
      const { positions } = (await reader.get(`/opds/v2/books/${bookId}/positions`)).body
      for (let current = 1; current <= count; current++) {
        const { totalProgression } = positions[current - 1].locations
        const byShare = put(ago(0), { totalProgression }, 'anything')
        t.equal((await reader.put(at(bookId), byShare)).status, 204)
        t.equal((await reader.get(`/books/${bookId}/progress`)).body.currentPage, current)
        await reader.put(`/books/${bookId}/progress`, { currentPage: current })
        t.same((await reader.get(at(bookId))).body.locator, positions[current - 1])
      }
    }
  })

  await t.test('what says nothing is left out, and an address is one', async t => {
    const reader = await all.as('reader')
    const { id } = await shelf.book('rich.epub')
    const said = put(
      ago(60),
      { position: null, fragments: [], progression: 0.5 },
      'Text/日本.xhtml',
      {
        title: '',
        text: { before: null, highlight: 'b' },
      },
    )
    t.equal((await reader.put(at(id), said)).status, 204)
    t.same((await reader.get(at(id))).body.locator, {
      href: 'Text/%E6%97%A5%E6%9C%AC.xhtml',
      type: 'image/png',
      locations: { progression: 0.5 },
      text: { highlight: 'b' },
    })
  })

  await t.test('what makes no sense is refused and changes nothing', async t => {
    const reader = await all.as('reader')
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

  await t.test('JSON is taken under each of its names', async t => {
    const reader = await all.as('reader')
    for (const [type, status] of [
      ['application/json', 204],
      ['application/vnd.readium.progression+json', 204],
      ['application/vnd.readium.progression+json; charset=utf-8', 204],
      ['text/plain', 415],
    ] as const) {
      const raw = JSON.stringify(put(ago(0), { position: 2 }))
      const { status: got } = await reader.ask('PUT', path, {
        raw,
        headers: { 'content-type': type },
      })
      t.equal(got, status, type)
    }
  })

  await t.test('unread forgets the place of the app as well', async t => {
    const reader = await all.as('reader')
    const kept = () =>
      all.sql`select 1 from book_locator where account_id = ${reader.id}`.then(rows => rows.length)
    for (const forget of [
      () => reader.post(`/books/${book.id}/unread`),
      () => reader.delete(`/books/${book.id}/progress`),
      () => reader.post(`/series/${book.seriesId}/unread`),
    ]) {
      t.equal((await reader.put(path, put(ago(0), { position: 2 }))).status, 204)
      t.equal(await kept(), 1)
      await forget()
      t.equal(await kept(), 0)
      t.equal((await reader.get(path)).status, 204)
    }
    await reader.post(`/series/${book.seriesId}/read`)
    t.match((await reader.get(path)).body.locator.locations, { position: 10, totalProgression: 1 })
  })

  await t.test('a book that cannot be read has a place all the same', async t => {
    const reader = await all.as('reader')
    const { id } = await shelf.book('broken.cbz')
    t.equal((await reader.put(at(id), put(ago(1), { position: 3 }))).status, 204)
    await reader.put(`/books/${id}/progress`, { completed: true })
    t.match((await reader.get(at(id))).body.locator, {
      href: /broken\.cbz$/,
      locations: { totalProgression: 1 },
    })
  })

  await t.test('hidden books are not there, and writing needs leave', async t => {
    const restricted = await all.as('reader')
    await restricted.put(path, put(ago(0), { position: 2 }))
    await hide(all.sql, restricted.id, [book.seriesId])
    t.equal((await restricted.get(path)).status, 404)
    t.equal((await restricted.put(path, put(ago(0), { position: 3 }))).status, 404)
    t.equal((await all.anyone.get(path)).status, 401)
  })

  await t.test('many apps at once leave one place, and it is the newest', async t => {
    const reader = await all.as('reader')
    const times = Array.from({ length: 20 }, (_, i) => ({
      time: ago(100 - i),
      position: (i % 9) + 1,
    }))
    const answers = await Promise.all(
      times.toReversed().map(({ time, position }) => reader.put(path, put(time, { position }))),
    )
    for (const { status } of answers) t.ok(status === 204 || status === 409, String(status))
    const { body } = await reader.get(path)
    t.same([body.modified, body.locator.locations.position], [times[19]!.time, times[19]!.position])
  })
})
