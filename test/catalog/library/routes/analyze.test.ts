// Analysis on request over HTTP.
import t, { type Test } from 'tap'
import { doctorFindings } from '../../../kit/catalog.ts'
import { comic, createTestLibrary, waitForScan } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const maintainer = await all.createUser('maintainer')
const someone = await all.createUser('reader')

/** Two series; the content of one book of each was replaced with unchanged size and times. */
async function altered(t: Test) {
  const pair = [comic({ pages: 2, padding: 400 }), comic({ pages: 2, padding: 400 })] as const
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': pair[0],
    'B/2.cbz': pair[0],
    'B/3.cbz': comic(),
  })
  await shelf.scan()
  t.equal(pair[0].length, pair[1].length)
  shelf.replaceSilently('A/1.cbz', pair[1])
  shelf.replaceSilently('B/2.cbz', pair[1])
  t.match(await shelf.scan(), { opens: 0 }, 'a scan detects no change')
  return shelf
}

async function changed(shelf: Awaited<ReturnType<typeof altered>>, path: string) {
  const response = await maintainer.post(path)
  t.equal(response.status, 200, path)
  await waitForScan(all, response.body.taskId)
  const rows = await all.sql`
    select convert_from(name, 'utf8') as name from book
    where library_id = ${shelf.id} and scan_id = ${response.body.taskId} order by name`
  return rows.map(row => row.name)
}

t.test('books, series and libraries are analyzed again on request', async t => {
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
  t.same(await doctorFindings(all), [], 'the doctor has no findings')
})

t.test('an analysis is not listed as a scan', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const first = await shelf.scan()
  const { id } = await shelf.book('1.cbz')
  const { body } = await maintainer.post(`/books/${id}/analyze`)
  t.same((await someone.get('/scans/active')).body.data, [])
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan`)).status, 200, 'a scan can start')
  await waitForScan(all, body.taskId)
  t.not((await someone.get(`/libraries/${shelf.id}/scan-status`)).body.id, body.taskId)
  t.equal(first.state, 'completed')
  const [scan] = await all.sql`
    select id from scan where library_id = ${shelf.id} order by created_at desc limit 1`
  await waitForScan(all, scan!.id)
  t.same(await doctorFindings(all), [])
})

t.test('analyze-unanalyzed reads only unreadable books', async t => {
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': Buffer.from('no archive'),
  })
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

t.test('empty and unknown resources cannot be analyzed', async t => {
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'B/1.cbz': comic(),
    'B/2.cbz': comic(),
  })
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
  const child = await all.createUser('maintainer')
  await all.sql`update account set all_libraries = false where id = ${child.id}`
  const there = (await shelf.books()).find(b => !b.missingAt)!
  for (const path of [`books/${there.id}`, `series/${there.seriesId}`, `libraries/${shelf.id}`])
    t.equal((await child.post(`/${path}/analyze`)).status, 404, path)
})
