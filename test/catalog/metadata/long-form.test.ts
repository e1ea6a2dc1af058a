import t from 'tap'
import type { Viewer } from '../../../lib/auth/viewer.ts'
import { booksFull, seriesFull } from '../../../lib/catalog/metadata/long-form.ts'
import { newId } from '../../../lib/id.ts'
import { comic, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'

const all = await serve(t)
const admin = await all.as('admin')
const info = '<?xml version="1.0"?><ComicInfo><Genre>Action</Genre></ComicInfo>'
const names = ['Ann', 'Bob', 'Cid', 'Dan']
const shelf = await shelve(
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

t.test('long forms come in the order of the ids, without what is hidden or gone', async t => {
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

t.test('the answers hold what a reader did', async t => {
  const { id, seriesId } = books[0]!
  await admin.put(`/books/${id}/progress`, { current_page: 2, is_completed: true })
  const book = (await admin.get(`/books/${id}?full=true`)).body
  t.match(book, { readCount: 1, lastCompletedAt: /Z$/, metadata: { bookId: id } })
  const series = (await admin.get(`/series/${seriesId}?full=true`)).body
  t.match(series, { readCount: 1, lastCompletedAt: /Z$/, metadata: { seriesId } })
  const list = (await admin.get('/series?full=true')).body
  t.equal(list.data[0].metadata.seriesId, list.data[0].id)
  t.equal((await admin.get('/books?full=true&pageSize=2')).body.data[1].metadata.title, 'Bob')
})
