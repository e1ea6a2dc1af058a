// Single series over HTTP.
import { test } from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { allPages } from '../../../kit/http/pagination.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

test('single series', async t => {
  const all = await startApi(t)
  const reader = await all.createUser('reader')
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 3 }),
    'Akira/Akira 2.cbz': comic(),
    'Akira/Akira 10.cbz': comic(),
    'Akira/gone.cbz': comic(),
  })
  await shelf.scan()
  shelf.remove('Akira/gone.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  const { seriesId } = await shelf.book('Akira 1.cbz')
  const titles = (books: any[]) => books.map(book => book.title)

  await t.test('a series has counters of books and of read books', async t => {
    const { body } = await reader.get(`/series/${seriesId}`)
    t.match(body, {
      id: seriesId,
      title: 'Akira',
      bookCount: 3,
      unreadCount: 3,
      libraryName: 'Shelf',
    })
    t.match(await reader.get(`/series/${newId()}`), {
      status: 404,
      body: { message: 'Series not found' },
    })
    const full = (await reader.get(`/series/${seriesId}/full`)).body
    t.match(full, { id: seriesId, bookCount: 3, metadata: { title: 'Akira' }, externalIds: [] })
    for (const list of ['/series', '/series/recently-added', `/series/recently-updated`])
      t.equal((await reader.get(`${list}/full`)).body.data[0].metadata.title, 'Akira', list)
    const query = 'akira'
    for (const found of [
      await reader.post('/series/search/full', { query }),
      await reader.post('/series/search/full', { query, full: false }),
      await reader.post('/series/search', { query, full: true }),
    ])
      t.equal(found.body.data[0].metadata.title, 'Akira')
    const books = (await reader.get(`/series/${seriesId}/books/full`)).body.data
    t.equal(books[1].metadata.bookId, books[1].id)
  })

  await t.test('the books of a series are in reading order', async t => {
    const { data } = (await reader.get(`/series/${seriesId}/books`)).body
    t.same(titles(data), ['Akira 1', 'Akira 2', 'Akira 10'])
    t.same(titles(await allPages(reader, `/series/${seriesId}/books?pageSize=1`)), titles(data))
    t.equal((await reader.get(`/series/${newId()}/books`)).status, 404)
  })

  await t.test('missing books require BooksWrite', async t => {
    const path = `/series/${seriesId}/books?include_deleted=true`
    t.equal((await reader.get(path)).body.total, 3)
    const maintainer = await all.createUser('maintainer')
    t.equal((await maintainer.get(path)).body.data.length, 4)
    t.equal((await maintainer.get(`${path}&pageSize=3`)).body.total, 4)
  })

  await t.test('a series can be marked read and unread repeatedly', async t => {
    const { id } = await shelf.book('Akira 1.cbz')
    await reader.put(`/books/${id}/progress`, { currentPage: 2 })
    const read = await reader.post(`/series/${seriesId}/read`)
    t.same(read.body, { count: 3, message: '3 books marked as read' })
    t.equal((await reader.post(`/series/${seriesId}/read`)).body.count, 0)
    t.match((await reader.get(`/series/${seriesId}`)).body, { readCount: 3, unreadCount: 0 })
    const { body } = await reader.get(`/books/${id}/progress`)
    t.match(body, { currentPage: 3, completed: true })
    const unread = await reader.post(`/series/${seriesId}/unread`)
    t.same(unread.body, { count: 3, message: '3 books marked as unread' })
    t.equal((await reader.post(`/series/${seriesId}/unread`)).body.count, 0)
    t.equal((await reader.get('/progress')).body.total, 0)
    t.match((await reader.get(`/series/${seriesId}`)).body, { readCount: 0, lastReadAt: null })
    t.equal((await reader.post(`/series/${newId()}/read`)).status, 404)
  })
})
