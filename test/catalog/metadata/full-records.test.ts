import t from 'tap'
import type { Viewer } from '../../../lib/accounts/viewer.ts'
import { newId } from '../../../lib/base/id.ts'
import { booksFull, seriesFull } from '../../../lib/catalog/metadata/full-records.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const info = '<?xml version="1.0"?><ComicInfo><Genre>Action</Genre></ComicInfo>'
const names = ['Ann', 'Bob', 'Cid', 'Dan']
const shelf = await createTestLibrary(
  t,
  all,
  Object.fromEntries(names.map(name => [`${name}/${name}.cbz`, comic({ info })])),
)
await shelf.scan()
const books = await shelf.books()
const everything: Viewer = {
  accountId: admin.id,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}
await admin.patch(`/books/${books[3]!.id}/metadata`, { ageRating: 18 })
await admin.patch(`/series/${books[1]!.seriesId}/metadata`, { ageRating: 18 })
const child = { ...everything, ageLimit: 12 }

t.test('full records are in the order of the ids, without hidden and deleted ones', async t => {
  const ids = [2, 0, 3, 1].map(i => books[i]!)
  const titles = async (viewer: Viewer) => {
    const long = await booksFull(all.sql, viewer, [newId(), ...ids.map(book => book.id)])
    return long.map(book => book.metadata.title)
  }
  t.same(await titles(everything), ['Cid', 'Ann', 'Dan', 'Bob'])
  t.same(await titles(child), ['Cid', 'Ann'])
  const series = await seriesFull(
    all.sql,
    child,
    ids.map(book => book.seriesId),
  )
  t.same(
    series.map(long => long.metadata.title),
    ['Cid', 'Ann', 'Dan'],
  )
  t.match(series[0], { genres: [{ name: 'Action' }], lastCompletedAt: null, readCount: 0 })
  t.same(await booksFull(all.sql, everything, []), [])
  t.same(await seriesFull(all.sql, everything, []), [])
})

t.test('full records contain the reading state of the caller', async t => {
  const { id, seriesId } = books[0]!
  await admin.put(`/books/${id}/progress`, { current_page: 2, is_completed: true })
  const book = (await admin.get(`/books/${id}/full`)).body
  t.match(book, { readCount: 1, lastCompletedAt: /Z$/, metadata: { bookId: id } })
  const series = (await admin.get(`/series/${seriesId}/full`)).body
  t.match(series, { readCount: 1, lastCompletedAt: /Z$/, metadata: { seriesId } })
  const list = (await admin.get('/series/full')).body
  t.equal(list.data[0].metadata.seriesId, list.data[0].id)
  t.equal((await admin.get('/books/full?pageSize=2')).body.data[1].metadata.title, 'Bob')
})
