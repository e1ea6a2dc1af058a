// Analysis on request: files are read again although nothing says that they changed.
import t, { type Test } from 'tap'
import { comic, ended, faults, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'

const all = await serve(t)
const maintainer = await all.as('maintainer')
const someone = await all.as('reader')

/** Two series; the bytes of one book of each were exchanged under the same size and times. */
async function altered(t: Test) {
  const pair = [comic({ pages: 2, padding: 400 }), comic({ pages: 2, padding: 400 })] as const
  const shelf = await shelve(t, all, { 'A/1.cbz': pair[0], 'B/2.cbz': pair[0], 'B/3.cbz': comic() })
  await shelf.scan()
  t.equal(pair[0].length, pair[1].length)
  shelf.replaceSilently('A/1.cbz', pair[1])
  shelf.replaceSilently('B/2.cbz', pair[1])
  t.match(await shelf.scan(), { opens: 0 }, 'a scan sees nothing')
  return shelf
}

async function changed(shelf: Awaited<ReturnType<typeof altered>>, path: string) {
  const answer = await maintainer.post(path)
  t.equal(answer.status, 200, path)
  await ended(all, answer.body.taskId)
  const rows = await all.sql`
    select convert_from(name, 'utf8') as name from book
    where library_id = ${shelf.id} and scan_id = ${answer.body.taskId} order by name`
  return rows.map(row => row.name)
}

t.test('a book, a series and a library are read again when they are asked for', async t => {
  const shelf = await altered(t)
  const before = await shelf.books()
  const series = (await shelf.book('2.cbz')).seriesId
  t.same(await changed(shelf, `/books/${(await shelf.book('1.cbz')).id}/analyze`), ['1.cbz'])
  t.same(await changed(shelf, `/series/${series}/analyze`), ['2.cbz', '3.cbz'])
  const after = await shelf.books()
  const hashOf = (books: typeof before, name: string) => books.find(b => b.name === name)!.sha256
  t.not(hashOf(after, '1.cbz'), hashOf(before, '1.cbz'))
  t.not(hashOf(after, '2.cbz'), hashOf(before, '2.cbz'))
  t.equal(hashOf(after, '3.cbz'), hashOf(before, '3.cbz'))
  t.same(
    after.map(b => b.id),
    before.map(b => b.id),
  )
  t.same(await changed(shelf, `/libraries/${shelf.id}/analyze`), ['1.cbz', '2.cbz', '3.cbz'])
  t.same(await faults(all), [], 'the doctor finds nothing')
})

t.test('an analysis is no scan to those who watch scans', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic() })
  const first = await shelf.scan()
  const { id } = await shelf.book('1.cbz')
  const { body } = await maintainer.post(`/books/${id}/analyze`)
  t.same((await someone.get('/scans/active')).body, [])
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan`)).status, 200, 'which may begin')
  await ended(all, body.taskId)
  t.not((await someone.get(`/libraries/${shelf.id}/scan-status`)).body.id, body.taskId)
  t.equal(first.state, 'completed')
  const [scan] = await all.sql`
    select id from scan where library_id = ${shelf.id} order by created_at desc limit 1`
  await ended(all, scan!.id)
  t.same(await faults(all), [])
})

t.test('what could not be read is tried again, and only that', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': Buffer.from('no archive') })
  await shelf.scan()
  const series = (await shelf.book('1.cbz')).seriesId
  const broken = await shelf.book('2.cbz')
  t.equal((await maintainer.post(`/books/${series}/analyze`)).status, 404)
  const good = await shelf.book('1.cbz')
  const nothing = await maintainer.post(`/books/${good.id}/analyze-unanalyzed`)
  t.match(nothing, { status: 400, body: { message: 'All books are analyzed' } })
  for (const path of [
    `/books/${broken.id}/analyze-unanalyzed`,
    `/series/${series}/analyze-unanalyzed`,
    `/libraries/${shelf.id}/analyze-unanalyzed`,
  ])
    t.same(await changed(shelf as never, path), ['2.cbz'])
  shelf.write('A/2.cbz', comic())
  await shelf.scan()
  t.equal((await maintainer.post(`/libraries/${shelf.id}/analyze-unanalyzed`)).status, 400)
})

t.test('what has no books, or is not there, cannot be analyzed', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic(), 'B/2.cbz': comic() })
  t.equal((await maintainer.post(`/libraries/${shelf.id}/analyze`)).status, 400, 'no books yet')
  await shelf.scan()
  shelf.remove('A/1.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  const gone = (await shelf.books()).find(b => b.missingAt)!
  t.equal((await maintainer.post(`/books/${gone.id}/analyze`)).status, 400)
  t.equal((await maintainer.post(`/series/${gone.seriesId}/analyze`)).status, 400)
  t.equal((await someone.post(`/books/${gone.id}/analyze`)).status, 403)
  t.equal((await someone.post(`/series/${gone.seriesId}/analyze`)).status, 403)
  t.equal((await someone.post(`/libraries/${shelf.id}/analyze`)).status, 403)
  const child = await all.as('maintainer')
  await all.sql`update account set all_libraries = false where id = ${child.id}`
  const there = (await shelf.books()).find(b => !b.missingAt)!
  for (const path of [`books/${there.id}`, `series/${there.seriesId}`, `libraries/${shelf.id}`])
    t.equal((await child.post(`/${path}/analyze`)).status, 404, path)
})
