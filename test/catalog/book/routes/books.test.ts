// Single books over HTTP.
import { test } from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { insertApiKey } from '../../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

test('single books', async t => {
  const all = await startApi(t)
  const reader = await all.createUser('reader')
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 3 }),
    'Akira/Akira 2.cbz': comic(),
    'Akira/Akira 10.cbz': comic(),
    'Akira/extra.cbz': comic(),
    'Akira/gone.cbz': comic(),
  })
  await shelf.scan()
  shelf.remove('Akira/gone.cbz')
  await shelf.scan({ options: { confirmMissing: true } })

  await t.test('book details contain the book and its metadata', async t => {
    const { id, sha256, seriesId } = await shelf.book('Akira 1.cbz')
    const { status, body } = await reader.get(`/books/${id}`)
    t.equal(status, 200)
    t.match(body.book, {
      id,
      seriesId,
      libraryId: shelf.id,
      title: 'Akira 1',
      path: 'Akira/Akira 1.cbz',
      fileFormat: 'cbz',
      fileHash: sha256,
      pageCount: 3,
      number: 1,
      deleted: false,
      analyzed: true,
      readProgress: null,
    })
    t.match(await reader.get(`/books/${newId()}`), {
      status: 404,
      body: { error: 'NotFound', message: 'Book not found', details: null },
    })
    t.equal((await reader.get('/books/nonsense')).status, 404)
    t.equal((await reader.get('/books/bulk/progress')).body.message, 'Unknown path')
    t.equal((await reader.get('/books/12345/progress')).body.message, 'Book not found')
    t.match(body.metadata, { bookId: id, title: 'Akira 1', number: '1', pageCount: 3 })
    const full = (await reader.get(`/books/${id}/full`)).body
    t.match(full, { ...body.book, metadata: body.metadata, genres: [], readCount: 0 })
    for (const list of ['/books', '/books/recently-added', `/libraries/${shelf.id}/books`]) {
      const { data } = (await reader.get(`${list}/full?pageSize=2`)).body
      t.same([data.length, data[0].metadata.bookId], [2, data[0].id], list)
    }
    const posted = (await reader.post('/books/list/full', {})).body.data
    t.equal(posted[3].metadata.pageCount, posted[3].pageCount)
    t.notOk('metadata' in (await reader.get('/books?full=false')).body.data[0])
  })

  await t.test('adjacent books follow the numbers; unnumbered books come last', async t => {
    const ways = ['Akira 1.cbz', 'Akira 2.cbz', 'Akira 10.cbz', 'extra.cbz']
    for (const [i, name] of ways.entries()) {
      const { id } = await shelf.book(name)
      const { body } = await reader.get(`/books/${id}/adjacent`)
      const names = [body.prev, body.next].map(book => book?.path.replace('Akira/', '') ?? null)
      t.same(names, [ways[i - 1] ?? null, ways[i + 1] ?? null], name)
    }
    const { id } = await shelf.book('gone.cbz')
    t.same((await reader.get(`/books/${id}/adjacent`)).body, { prev: null, next: null })
    t.equal((await reader.get(`/books/${newId()}/adjacent`)).status, 404)
  })

  await t.test('adjacent books in a read list follow its order', async t => {
    const maintainer = await all.createUser('maintainer')
    const order = ['extra.cbz', 'Akira 1.cbz', 'Akira 10.cbz']
    const books = await Promise.all(order.map(name => shelf.book(name)))
    const created = await maintainer.post('/readlists', { name: 'Mine', ordered: true })
    const readListId = created.body.id
    const bookIds = books.map(({ id }) => id)
    await maintainer.post(`/readlists/${readListId}/books`, { bookIds })
    const [extra, first, tenth] = bookIds
    for (const [id, prev, next] of [
      [extra, null, first],
      [first, extra, tenth],
      [tenth, first, null],
    ]) {
      const { body } = await reader.get(`/books/${id}/adjacent?readListId=${readListId}`)
      t.same([body.prev?.id ?? null, body.next?.id ?? null], [prev, next])
    }
    const { id: other } = await shelf.book('Akira 2.cbz')
    t.equal((await reader.get(`/books/${other}/adjacent?readListId=${readListId}`)).status, 404)
    t.equal((await reader.get(`/books/${first}/adjacent?readListId=${newId()}`)).status, 404)
    const { key } = await insertApiKey(all.sql, reader.id, ['BooksRead'])
    const onlyBooks = all.withHeaders({ 'x-api-key': key })
    t.equal((await onlyBooks.get(`/books/${first}/adjacent`)).status, 200)
    const refused = await onlyBooks.get(`/books/${first}/adjacent?readListId=${readListId}`)
    t.equal(refused.status, 403)
  })
})
