// Want-to-read lists: adding, order, visibility, the flags and filters of series and books, the OPDS shelf.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

test('want to read', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Alpha/2.cbz': comic(),
    'Beta/1.cbz': comic(),
    'Gone/1.cbz': comic(),
  })
  await library.scan()
  const { sql } = all
  const ids = Object.fromEntries(
    (await sql<{ name: string; id: string }[]>`select name, id from series`).map(s => [
      s.name,
      s.id,
    ]),
  )
  const books = await library.books()
  const bookOf = (series: string, name: string) =>
    books.find(book => book.series === series && book.name === name)!.id
  const reader = await all.createUser('reader')
  const other = await all.createUser('reader')
  type Entry = { id: string; seriesId: string | null; bookId: string | null }
  const listed = async (sort = 'custom', client = reader) =>
    (await client.get(`/want-to-read?sort=${sort}`)).body.data.map(
      (entry: Entry) => entry.seriesId ?? entry.bookId,
    )

  t.test('items are added once, at the end', async t => {
    const first = await reader.post('/want-to-read', { bookId: bookOf('Alpha', '2.cbz') })
    t.equal(first.status, 201)
    t.match(first.body, { itemType: 'book', seriesId: null, bookId: bookOf('Alpha', '2.cbz') })
    const again = await reader.post('/want-to-read', { bookId: bookOf('Alpha', '2.cbz') })
    t.equal(again.status, 200)
    t.same(again.body, first.body)
    t.equal((await reader.post('/want-to-read', { seriesId: ids.Beta })).status, 201)
    t.equal((await reader.post('/want-to-read', { seriesId: newId() })).status, 404)
    for (const body of [{}, { seriesId: ids.Beta, bookId: bookOf('Beta', '1.cbz') }])
      t.equal((await reader.post('/want-to-read', body)).status, 400)
    const several = {
      seriesIds: [ids.Beta, ids.Gone, ids.Gone],
      bookIds: [bookOf('Alpha', '1.cbz'), newId()],
    }
    const bulk = await reader.post('/want-to-read/bulk', several)
    t.same(bulk.body, { added: 2, alreadyPresent: 1 })
    t.same((await reader.post('/want-to-read/bulk', several)).body, {
      added: 0,
      alreadyPresent: 3,
    })
    const expected = [...[bookOf('Alpha', '2.cbz'), ids.Beta, ids.Gone], bookOf('Alpha', '1.cbz')]
    t.same(await listed(), expected)
    t.same(await listed('oldest'), expected)
    t.same(await listed('added_at:desc'), expected.toReversed())
    t.same(await listed('newest'), expected.toReversed())
    t.same(await listed('custom', other), [], 'of others nothing is listed')
    const tooMany = { seriesIds: Array.from({ length: 101 }, newId) }
    t.equal((await reader.post('/want-to-read/bulk', tooMany)).status, 400)
  })

  t.test('the order is that of the account; entries that are not named follow', async t => {
    const { body } = await reader.get('/want-to-read?sort=custom')
    const entries = body.data as Entry[]
    const entryIds = [entries[3]!.id, newId(), entries[1]!.id, entries[3]!.id]
    const before = await listed('oldest')
    for (let i = 0; i < 2; i++) {
      t.equal((await reader.put('/want-to-read/order', { entryIds })).status, 204)
      t.same(
        await listed(),
        [3, 1, 0, 2].map(i => before[i]),
      )
    }
    t.same(await listed('oldest'), before)
    const page = await reader.get('/want-to-read?sort=custom&page=2&pageSize=3')
    t.match(page.body, { total: 4, totalPages: 2, data: [{ bookId: null, seriesId: ids.Gone }] })
    t.notOk('series' in page.body.data[0])
    const full = await reader.get('/want-to-read?sort=custom&page=1&pageSize=4&includeItems=true')
    t.same(
      full.body.data.map(({ series, book }: any) => series?.id ?? book?.id),
      await listed(),
      'with their records in the same order',
    )
    const others = await other.put('/want-to-read/order', { entryIds: entries.map(e => e.id) })
    t.equal(others.status, 204)
    t.same((await listed())[0], before[3], 'another account changes nothing')
  })

  t.test('series and books have the flag, and filters find them', async t => {
    const flags = async (client: typeof reader) => ({
      series: (await client.get(`/series/${ids.Beta}`)).body.wantToRead,
      full: (await client.get(`/series/${ids.Beta}?full=true`)).body.wantToRead,
      book: (await client.get(`/books/${bookOf('Alpha', '1.cbz')}`)).body.book.wantToRead,
    })
    t.same(await flags(reader), { series: true, full: true, book: true })
    t.same(await flags(other), { series: false, full: false, book: false })
    const wanted = { condition: { wantToRead: { operator: 'isTrue' } } }
    const series = await reader.post('/series/list', wanted)
    t.same(series.body.data.map((s: { id: string }) => s.id).sort(), [ids.Beta, ids.Gone].sort())
    const found = await reader.post('/books/list', wanted)
    t.equal(found.body.total, 2)
    t.equal((await other.post('/books/list', wanted)).body.total, 0)
  })

  t.test('the OPDS shelves have them in this order', async t => {
    const { body } = await reader.get('/opds/v2/want-to-read')
    t.same(
      body.publications.map((p: { metadata: { identifier: string } }) => p.metadata.identifier),
      [bookOf('Alpha', '1.cbz'), bookOf('Alpha', '2.cbz')].map(id => `urn:uuid:${id}`),
    )
  })

  t.test('missing and hidden items are left out, and come back', async t => {
    const file = comic()
    library.remove('Gone/1.cbz')
    library.write('Alpha/3.cbz', file)
    await library.scan()
    t.notOk((await listed()).includes(ids.Gone))
    await hideSeries(sql, reader.id, [ids.Beta!])
    t.equal((await reader.post('/want-to-read', { seriesId: ids.Beta })).status, 404)
    t.equal((await reader.get('/want-to-read')).body.total, 2)
    t.notOk((await listed()).includes(ids.Beta))
  })

  t.test('removing is repeatable', async t => {
    for (let i = 0; i < 2; i++)
      t.equal((await reader.delete(`/want-to-read/books/${bookOf('Alpha', '1.cbz')}`)).status, 204)
    t.same(await listed(), [bookOf('Alpha', '2.cbz')])
    t.equal((await reader.delete(`/want-to-read/series/${ids.Beta}`)).status, 204, 'hidden')
    t.equal((await reader.delete(`/want-to-read/series/${ids.Beta}`)).status, 404)
    t.equal((await reader.delete(`/want-to-read/series/${newId()}`)).status, 404)
  })
})
