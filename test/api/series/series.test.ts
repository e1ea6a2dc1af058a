// Single series and their books.
import { test } from 'tap'
import { newId } from '../../../lib/id.ts'
import { comic, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'
import { allPages } from '../../kit/walk.ts'

test('single series', async t => {
  const all = await serve(t)
  const reader = await all.as('reader')
  const shelf = await shelve(t, all, {
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

  await t.test('a series counts its books and those of them that were read', async t => {
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
    const whole = (await reader.get(`/series/${seriesId}?full=true`)).body
    t.match(whole, { id: seriesId, bookCount: 3, metadata: { title: 'Akira' }, externalIds: [] })
    for (const list of ['/series/recently-added', `/series/recently-updated`]) {
      t.equal((await reader.get(`${list}?full=true`)).body[0].metadata.title, 'Akira')
      t.equal((await reader.get(`${list}?full=1&page=1`)).body.data[0].metadata.title, 'Akira')
    }
    t.equal((await reader.get('/series?full=true')).body.data[0].metadata.title, 'Akira')
    const found = await reader.post('/series/search', { query: 'akira', full: true })
    t.equal(found.body[0].metadata.title, 'Akira')
    const books = (await reader.get(`/series/${seriesId}/books?full=true`)).body
    t.equal(books[1].metadata.bookId, books[1].id)
  })

  await t.test('its books are an array in reading order, or pages for those who ask', async t => {
    const { body } = await reader.get(`/series/${seriesId}/books`)
    t.same(titles(body), ['Akira 1', 'Akira 2', 'Akira 10'])
    t.same(titles(await allPages(reader, `/series/${seriesId}/books?pageSize=1`)), titles(body))
    t.equal((await reader.get(`/series/${newId()}/books`)).status, 404)
  })

  await t.test('missing ones are shown to those who manage books', async t => {
    const path = `/series/${seriesId}/books?include_deleted=true`
    t.equal((await reader.get(path)).body.length, 3)
    const maintainer = await all.as('maintainer')
    t.equal((await maintainer.get(path)).body.length, 4)
    t.equal((await maintainer.get(`${path}&pageSize=3`)).body.total, 4)
  })

  await t.test('all of it is read and unread at once, as often as one likes', async t => {
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
