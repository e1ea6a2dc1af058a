// Lists of books over HTTP.
import { test } from 'tap'
import { hideSeries } from '../../../kit/accounts.ts'
import type { Client } from '../../../kit/http/client.ts'
import { allPages } from '../../../kit/http/pagination.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const titlesOf = (books: any[]) => books.map(book => book.title)

test('lists of all books', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 3 }),
    'Akira/Akira 2.cbz': comic({ pages: 1 }),
    'Akira/Akira 10.cbz': comic({ pages: 2 }),
    'Berserk/Berserk 1.cbz': comic({ pages: 2 }),
    'Berserk/Berserk 2.cbz': comic({ pages: 2 }),
    'Cairo/Cairo.cbz': comic({ pages: 5 }),
    'Cairo/lost.cbz': comic({ pages: 1 }),
  })
  await shelf.scan()
  shelf.remove('Cairo/lost.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  const other = await createTestLibrary(t, all, { 'Dune/Dune 1.cbz': comic({ pages: 2 }) })
  await other.scan()
  const [akira] = (await admin.get('/series?pageSize=1')).body.data

  await t.test('pages are consistent under every sort order, ascending and descending', async t => {
    const sorts =
      'title,number,file_size,page_count,created_at,modified_at,series,release_date,filename,last_read'
    for (const sort of sorts.split(',')) {
      const up = await allPages(admin, `/books?pageSize=2&sort=${sort},asc`)
      t.equal(new Set(up.map(book => book.id)).size, 7, sort)
      const down = await allPages(admin, `/books?page_size=3&sort=${sort}&order=desc`)
      t.equal(new Set(down.map(book => book.id)).size, 7, sort)
      if (['title', 'page_count', 'file_size', 'created_at', 'filename'].includes(sort))
        t.same(titlesOf(down), titlesOf(up).reverse(), sort)
    }
    const byPages = await allPages(admin, '/books?pageSize=2&sort=page_count,desc')
    t.same(
      byPages.map(book => book.pageCount),
      [5, 3, 2, 2, 2, 2, 1],
    )
    t.same(
      titlesOf((await admin.get('/books?sort=title')).body.data),
      titlesOf((await admin.get('/books')).body.data),
    )
    t.same(
      titlesOf((await admin.get('/books?sort=pageCount,desc')).body.data),
      titlesOf((await admin.get('/books?sort=page_count,desc')).body.data),
    )
    for (const wrong of ['sort=nonsense', 'sort=title,up', 'order=up'])
      t.equal((await admin.get(`/books?${wrong}`)).status, 400, wrong)
  })

  await t.test('links repeat the query, in the body and in the header', async t => {
    const { body, headers } = await admin.get(
      `/books?page=2&page_size=2&series_id=${akira.id}&sort=number,desc`,
    )
    t.same(titlesOf(body.data).length, 1)
    const query = `pageSize=2&seriesId=${akira.id}&sort=number%2Cdesc`
    t.same(body.links, {
      self: `/api/v1/books?page=2&${query}`,
      first: `/api/v1/books?page=1&${query}`,
      prev: `/api/v1/books?page=1&${query}`,
      next: null,
      last: `/api/v1/books?page=2&${query}`,
    })
    t.match(headers.get('link'), /rel="first".*rel="prev".*rel="self".*rel="last"/)
    const beyond = (await admin.get('/books?page=90')).body
    t.same([beyond.data, beyond.page, beyond.total, beyond.totalPages], [[], 90, 7, 1])
    t.match(
      beyond.links,
      { prev: /page=1&/, next: null, last: /page=1&/ },
      'back to a page there is',
    )
    t.equal((await admin.get('/books?page=-1')).status, 400)
    t.equal((await admin.get('/books?libraryId=nonsense')).status, 400)
  })

  await t.test('lists can be limited to a library, by path and by parameter', async t => {
    for (const path of [`/books?library_id=${other.id}`, `/libraries/${other.id}/books?pageSize=1`])
      t.same(titlesOf(await allPages(admin, path)), ['Dune 1'])
    const paged = await allPages(
      admin,
      `/libraries/${shelf.id}/books?pageSize=2&sort=page_count,desc`,
    )
    t.same(
      paged.map(book => book.pageCount),
      [5, 3, 2, 2, 2, 1],
    )
    t.equal((await admin.get(`/libraries/${akira.id}/books`)).status, 404)
    t.same((await admin.get(`/books?libraryId=${akira.id}`)).body.total, 0)
  })

  await t.test('recently added books are sorted newest first', async t => {
    const books = await allPages(admin, '/books/recently-added?pageSize=3')
    t.equal(books.length, 7)
    t.equal(books[0].title, 'Dune 1')
    const times = books.map(book => book.createdAt)
    t.same(times, [...times].sort().reverse())
    const own = await allPages(admin, `/libraries/${shelf.id}/books/recently-added?pageSize=4`)
    t.equal(own.length, 6)
  })

  await t.test(
    'lists are filtered by condition and text, and errors name the path in the condition',
    async t => {
      const list = (body: unknown, query = '') =>
        allPages(admin, `/books/list?pageSize=2${query}`, { method: 'POST', body })
      const ofAkira = { seriesId: { operator: 'is', value: akira.id } }
      t.equal((await list({})).length, 7)
      t.same(titlesOf(await list({ condition: ofAkira }, '&sort=page_count,desc')).length, 3)
      t.same(titlesOf(await list({ full_text_search: 'DUN' })), ['Dune 1'])
      t.same((await list({ condition: { allOf: [ofAkira] }, fullTextSearch: '10' })).length, 1)
      t.equal((await list({ condition: null, includeDeleted: true })).length, 8)
      const reader = await all.createUser('reader')
      const seen = await allPages(reader, '/books/list', {
        method: 'POST',
        body: { includeDeleted: true },
      })
      t.equal(seen.length, 7, 'missing books require BooksWrite')
      for (const condition of [
        { nonsense: { operator: 'is', value: 'x' } },
        { title: { operator: 'resembles', value: 'x' } },
        { ...ofAkira, title: { operator: 'is', value: 'x' } },
        { allOf: {} },
        [],
        'text',
        { anyOf: [{ pageCount: { operator: 'gt', value: 'many' } }] },
      ]) {
        const { status, body } = await admin.post('/books/list', { condition })
        t.equal(status, 400, JSON.stringify(condition))
        t.match(body, { error: 'BadRequest', message: /condition/ })
      }
      t.equal((await admin.post('/books/list', { unknown: 1 })).status, 400)
    },
  )

  await t.test('hidden series are in no list', async t => {
    const reader = await all.createUser('reader')
    const books = (await reader.get(`/books?seriesId=${akira.id}`)).body.data
    t.equal(books.length, 3)
    await reader.put(`/books/${books[0].id}/progress`, { current_page: 1, is_completed: true })
    await reader.put(`/books/${books[1].id}/progress`, { current_page: 0 })
    t.equal((await reader.get('/books/in-progress')).body.total, 1)
    await hideSeries(all.sql, reader.id, [akira.id])
    await eventually(async () => (await reader.get('/books')).body.total === 4)
    for (const list of ['', '/in-progress', '/on-deck', '/recently-added', '/recently-read'])
      for (const base of ['/books', `/libraries/${shelf.id}/books`]) {
        const { body } = await reader.get(base + list)
        t.notMatch(JSON.stringify(body), akira.id, base + list)
        t.equal(body.data.length, body.total, `${base + list} counts what it shows`)
      }
    t.equal((await reader.get('/progress/currently-reading')).body.total, 0)
    t.equal((await reader.get('/progress')).body.total, 0)
    for (const path of [
      `/books/${books[0].id}`,
      `/books/${books[0].id}/adjacent`,
      `/books/${books[0].id}/progress`,
    ])
      t.equal((await reader.get(path)).status, 404, path)
    t.equal((await reader.put(`/books/${books[0].id}/progress`, { current_page: 1 })).status, 404)
    t.equal((await reader.post(`/series/${akira.id}/read`)).status, 404)
  })

  await t.test('lists require BooksRead', async t => {
    t.equal((await all.anonymous.get('/books')).status, 401)
    const keyed = await all.createUser('reader')
    await all.sql`update api_key set permissions = '{SeriesRead}' where account_id = ${keyed.id}`
    t.equal((await keyed.get('/books')).status, 403)
    t.equal((await keyed.get('/series')).status, 200)
  })
})

test('reading lists', async t => {
  const all = await startApi(t)
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 4 }),
    'Akira/Akira 2.cbz': comic({ pages: 4 }),
    'Akira/Akira 3.cbz': comic({ pages: 4 }),
    'Berserk/Berserk 1.cbz': comic({ pages: 4 }),
    'Berserk/Berserk 2.cbz': comic({ pages: 4 }),
    'Cairo/Cairo 1.cbz': comic({ pages: 4 }),
    'Cairo/Cairo 2.cbz': comic({ pages: 4 }),
  })
  await shelf.scan()
  const books = await shelf.books()
  const idOf = (title: string) => books.find(book => book.title === title)!.id
  const at = (reader: Client, title: string, current_page: number) =>
    reader.put(`/books/${idOf(title)}/progress`, { current_page })
  const deck = async (reader: Client) =>
    titlesOf(await allPages(reader, '/books/on-deck?pageSize=1'))

  await t.test('a completed book puts the next one on deck until it is started', async t => {
    const reader = await all.createUser('reader')
    t.same(await deck(reader), [])
    await at(reader, 'Akira 1', 4)
    t.same(await deck(reader), ['Akira 2'])
    await at(reader, 'Akira 2', 0)
    t.same(await deck(reader), [], 'an opened book is started')
    t.same(titlesOf(await allPages(reader, '/books/in-progress')), ['Akira 2'])
    await at(reader, 'Akira 2', 4)
    t.same(await deck(reader), ['Akira 3'])
    await at(reader, 'Akira 3', 4)
    t.same(await deck(reader), [], 'no books are left')
    await reader.post(`/books/${idOf('Akira 1')}/unread`)
    t.same(await deck(reader), ['Akira 1'], 'a book marked unread is on deck again')
  })

  await t.test('series are sorted by last completion, across pages', async t => {
    const reader = await all.createUser('reader')
    for (const title of ['Cairo 1', 'Akira 1', 'Berserk 1']) await at(reader, title, 4)
    t.same(await deck(reader), ['Berserk 2', 'Akira 2', 'Cairo 2'])
    await at(reader, 'Akira 2', 4)
    t.same(await deck(reader), ['Akira 3', 'Berserk 2', 'Cairo 2'])
    t.equal((await reader.get(`/libraries/${shelf.id}/books/on-deck`)).body.total, 3)
    t.equal((await reader.get(`/books/on-deck?libraryId=${idOf('Akira 1')}`)).body.total, 0)
    const hiddenToo = await all.createUser('reader')
    t.same(await deck(hiddenToo), [], 'on deck is separate per user')
  })

  await t.test('in progress is sorted by last read', async t => {
    const reader = await all.createUser('reader')
    const order = ['Berserk 2', 'Akira 1', 'Cairo 1', 'Akira 2', 'Cairo 2']
    for (const title of order) await at(reader, title, title.endsWith('1') ? 4 : 2)
    t.same(titlesOf(await allPages(reader, '/books/in-progress?pageSize=1')), [
      'Cairo 2',
      'Akira 2',
      'Berserk 2',
    ])
    t.same(titlesOf(await allPages(reader, '/progress/currently-reading?pageSize=2')), [
      'Cairo 2',
      'Akira 2',
      'Berserk 2',
    ])
    t.same(titlesOf((await reader.get('/books/recently-read')).body.data), [...order].reverse())
    t.same(titlesOf((await reader.get('/books/recently-read?pageSize=2')).body.data), [
      'Cairo 2',
      'Akira 2',
    ])
    t.same(
      titlesOf(await allPages(reader, '/books/recently-read?pageSize=2')),
      [...order].reverse(),
    )
    const [book] = (await reader.get('/books/in-progress')).body.data
    t.match(book.readProgress, { currentPage: 2, completed: false, userId: reader.id })
  })

  await t.test('missing books are in no list, and their progress is retained', async t => {
    const reader = await all.createUser('reader')
    await at(reader, 'Akira 1', 4)
    await at(reader, 'Berserk 1', 2)
    shelf.remove('Akira/Akira 2.cbz')
    shelf.remove('Berserk/Berserk 1.cbz')
    await shelf.scan({ options: { confirmMissing: true } })
    t.same(await deck(reader), ['Akira 3'], 'a missing book is skipped')
    t.same(await allPages(reader, '/books/in-progress'), [])
    t.same(titlesOf((await reader.get('/books/recently-read')).body.data), ['Akira 1'])
    t.equal((await reader.get('/progress')).body.total, 2)
    t.equal((await reader.get(`/books/${idOf('Berserk 1')}`)).body.book.deleted, true)
  })
})

// The server is notified of changed rules asynchronously.
async function eventually(holds: () => Promise<boolean>) {
  for (let left = 1000; left > 0; left--) {
    if (await holds()) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error('it did not come')
}
