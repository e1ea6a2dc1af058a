// Books that cannot be read, and work on many books or series in the background, over HTTP.
import t from 'tap'
import { noCoverImage } from '../../../../lib/base/errors.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { doctorFindings } from '../../../kit/catalog.ts'
import { comic, createTestLibrary, waitForScan } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const damaged = () => Buffer.from(`no archive ${Math.random()}`)
const finished = async ({ body, status }: { body: any; status: number }) => {
  t.equal(status, 200, JSON.stringify(body))
  t.equal(body.success, true)
  t.equal(body.tasksEnqueued, body.taskIds.length)
  t.equal(body.taskId, body.taskIds[0] ?? null)
  for (const id of body.taskIds) await waitForScan(all, id)
  return body
}

/** Two libraries with damaged files, and a maintainer who may not see the series `Hidden`. */
async function damagedLibraries() {
  const shelf = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Alpha/2.cbz': damaged(),
    'Beta/1.cbz': damaged(),
    'Hidden/1.cbz': damaged(),
  })
  const other = await createTestLibrary(t, all, { 'Other/1.cbz': damaged() })
  await shelf.scan()
  await other.scan()
  const limited = await all.createUser('maintainer')
  const hidden = (await shelf.books()).find(book => book.series === 'Hidden')!
  await hideSeries(all.sql, limited.id, [hidden.seriesId])
  return { shelf, other, limited, hidden }
}

t.test('books with errors are listed by code and read again', async t => {
  const { shelf, other, limited, hidden } = await damagedLibraries()
  const failed = async (query = '', user: typeof reader = admin) => {
    const { body } = await user.get(`/books/errors${query}`)
    return { ...body, ids: body.data.map((entry: any) => entry.book.id) }
  }
  const one = await failed()
  t.match(one, { total: 4, totalPages: 1, links: { prev: null, next: null } })
  const [{ errorType, label }] = one.data[0].errors
  t.same(one.errorCounts, { [errorType]: 4 })
  t.match(label, /^[A-Z]/)
  // Sorted by code, however the pages are cut.
  const codes = ['truncated', 'io', 'encrypted', 'bad_crc']
  for (const [i, id] of one.ids.entries())
    await all.sql`update book set error_code = ${codes[i]!} where id = ${id}`
  for (const pageSize of [1, 3]) {
    const seen: string[] = []
    for (let page = 1; page <= Math.ceil(4 / pageSize); page++) {
      const part = await failed(`?pageSize=${pageSize}&page=${page}`)
      t.equal(part.totalPages, Math.ceil(4 / pageSize))
      for (const { errors } of part.data) seen.push(errors[0].errorType)
    }
    t.same(seen, codes.toSorted())
  }
  t.match(await failed('?errorType=io'), { total: 1, errorCounts: { bad_crc: 1 } })
  t.equal((await failed(`?libraryId=${other.id}`)).ids.length, 1)
  t.same((await failed(`?seriesId=${hidden.seriesId}`)).ids, [hidden.id])
  t.equal((await admin.get('/books/errors?errorType=other')).status, 400)
  const visible = await failed('', limited)
  t.equal(visible.total, 3)
  t.notOk(visible.ids.includes(hidden.id))
  t.equal(
    Object.values<number>(visible.errorCounts).reduce((a, b) => a + b, 0),
    3,
  )

  const broken = await shelf.book('2.cbz')
  const [good] =
    await all.sql`select id from book where title = 'Alpha 1' or error_code is null limit 1`
  t.equal((await reader.post(`/books/${broken.id}/retry`)).status, 403)
  t.equal((await reader.post('/books/retry-all-errors')).status, 403)
  t.equal((await limited.post(`/books/${hidden.id}/retry`)).status, 404)
  t.equal((await admin.post(`/books/${good!.id}/retry`)).status, 400)
  t.equal((await admin.post(`/books/${broken.id}/retry`, { errorTypes: ['timeout'] })).status, 400)
  shelf.write('Alpha/2.cbz', comic())
  const { body } = await limited.post(`/books/${broken.id}/retry`, { errorTypes: null })
  await finished({ body, status: 200 })
  t.equal((await shelf.book('2.cbz')).error, null)
  t.same((await failed('', limited)).ids.length, 2)

  shelf.write('Beta/1.cbz', comic())
  shelf.write('Hidden/1.cbz', comic())
  await finished(await limited.post('/books/retry-all-errors', { libraryId: shelf.id }))
  t.same((await failed(`?libraryId=${shelf.id}`)).ids, [hidden.id], 'what is hidden is not read')
  const work = await finished(await admin.post('/books/retry-all-errors'))
  t.equal(work.tasksEnqueued, 2, 'one task for each library')
  t.equal((await failed()).ids.length, 1)
  const none = await finished(await admin.post('/books/retry-all-errors', { errorType: 'io' }))
  t.match(none, { tasksEnqueued: 0, taskId: null, message: 'There are no files to be read' })
  // The files were changed, too, which only a scan finds.
  await shelf.scan()
  t.same(await doctorFindings(all), [])
})

t.test('books without the cover that they should have are errors, and get another try', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Alpha/2.cbz': comic(),
    'Bare/1.cbz': comic(),
    'Hidden/1.cbz': comic(),
  })
  await shelf.scan()
  const limited = await all.createUser('maintainer')
  const books = await shelf.books()
  const hidden = books.find(book => book.series === 'Hidden')!
  await hideSeries(all.sql, limited.id, [hidden.seriesId])
  const breakCovers = async (message: string, series: string) =>
    await all.sql`
      update book_artifact set cover = null, cover_error = ${message}
      where book_id = any(${books.filter(book => book.series === series).map(({ id }) => id)})`
  await breakCovers('The image is damaged', 'Alpha')
  await breakCovers('The image is damaged', 'Hidden')
  await breakCovers(noCoverImage, 'Bare')
  const failed = async (user: typeof reader) =>
    (await user.get(`/books/errors?errorType=thumbnail&libraryId=${shelf.id}`)).body
  t.match(await failed(limited), {
    total: 2,
    errorCounts: { thumbnail: 2 },
    data: [{ errors: [{ errorType: 'thumbnail', label: 'No cover' }] }, {}],
  })
  t.equal((await failed(admin)).total, 3)
  const [alpha] = books
  t.equal((await admin.post(`/books/${alpha!.id}/retry`, { errorTypes: ['io'] })).status, 400)
  await finished(await limited.post(`/books/${alpha!.id}/retry`, { errorTypes: ['thumbnail'] }))
  t.equal((await failed(limited)).total, 1)
  const body = { errorType: 'thumbnail', seriesId: alpha!.seriesId }
  const work = await finished(await limited.post('/books/retry-all-errors', body))
  t.equal(work.message, '1 files to be read')
  t.equal((await failed(limited)).total, 0)
  t.equal((await failed(admin)).total, 1, 'what is hidden is not tried')
})

t.test('thumbnails of many books and series', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Alpha/2.cbz': comic(),
    'Beta/1.cbz': comic(),
    'Hidden/1.cbz': comic(),
  })
  await shelf.scan()
  const books = await shelf.books()
  const limited = await all.createUser('maintainer')
  const seriesOf = (name: string) => books.find(book => book.series === name)!.seriesId
  await hideSeries(all.sql, limited.id, [seriesOf('Hidden')])
  const bookIds = books.map(book => book.id)
  const seriesIds = [...new Set(books.map(book => book.seriesId))]
  const made = async (user: typeof reader, path: string, body?: object) => {
    const { taskIds, message } = await finished(await user.post(path, body))
    const [scan] =
      await all.sql`select to_cover as count from scan where id = ${taskIds[0] ?? null}`
    return [scan?.count ?? 0, message]
  }
  const thumbnails = (count: number) => [count, `${count} thumbnails to be generated`]
  const force = true
  t.same((await made(admin, `/libraries/${shelf.id}/books/thumbnails/generate`))[0], 0)
  const cases: [path: string, body: object, counts: [admin: number, limited: number]][] = [
    [`/libraries/${shelf.id}/books/thumbnails/generate`, { force }, [4, 3]],
    [`/libraries/${shelf.id}/series/thumbnails/generate`, { force }, [3, 2]],
    ['/books/bulk/thumbnails/generate', { bookIds, force }, [4, 3]],
    ['/series/bulk/thumbnails/generate', { seriesIds, force }, [3, 2]],
    ['/series/bulk/thumbnails/books/generate', { seriesIds, force }, [4, 3]],
    [
      '/books/thumbnails/generate',
      { libraryId: shelf.id, seriesId: seriesOf('Alpha'), force },
      [2, 2],
    ],
    ['/series/thumbnails/generate', { libraryId: shelf.id, force }, [3, 2]],
  ]
  for (const [path, body, [everything, visible]] of cases) {
    t.same(await made(admin, path, body), thumbnails(everything), path)
    t.same(await made(limited, path, body), thumbnails(visible), path)
    t.equal((await reader.post(path, body)).status, 403)
  }
  await all.sql`update book_artifact set cover = null where book_id = ${bookIds[0]!}`
  t.same(await made(admin, '/books/bulk/thumbnails/generate', { bookIds }), thumbnails(1))
  const [row] = await all.sql`select cover from book_artifact where book_id = ${bookIds[0]!}`
  t.ok(row!.cover)
  const tooMany = { bookIds: Array(501).fill(bookIds[0]) }
  t.equal((await admin.post('/books/bulk/thumbnails/generate', tooMany)).status, 400)
  t.equal((await admin.post('/books/bulk/thumbnails/generate', {})).status, 400)
  t.same(await doctorFindings(all), [])
})

t.test('numbers and titles follow the current settings of the library', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Alpha (Digital)/Alpha 5.cbz': comic(),
    'Alpha (Digital)/Alpha 7.cbz': comic(),
    'Beta (Digital)/1.cbz': comic(),
    'Gamma (Digital)/1.cbz': comic(),
    'Hidden (Digital)/1.cbz': comic(),
  })
  await shelf.scan()
  const limited = await all.createUser('maintainer')
  const series = async () => {
    const { body } = await admin.get(`/series?libraryId=${shelf.id}`)
    return body.data as { id: string; title: string }[]
  }
  const [alpha, beta, , hidden] = await series()
  await hideSeries(all.sql, limited.id, [hidden!.id])
  const numbers = async () =>
    (await admin.get(`/series/${alpha!.id}/books`)).body.data.map((book: any) => book.number)
  for (const [numberStrategy, expected] of [
    ['file_order', [1, 2]],
    ['filename', [5, 7]],
  ] as const) {
    await admin.patch(`/libraries/${shelf.id}`, { numberStrategy })
    const isSingle = numberStrategy === 'filename'
    await finished(
      isSingle
        ? await limited.post(`/series/${alpha!.id}/renumber`)
        : await limited.post('/series/bulk/renumber', { seriesIds: [alpha!.id, hidden!.id] }),
    )
    t.same(await numbers(), expected, numberStrategy)
  }
  t.equal((await limited.post(`/series/${hidden!.id}/renumber`)).status, 404)
  t.equal((await reader.post(`/series/${alpha!.id}/renumber`)).status, 403)

  await admin.put(`/series/${beta!.id}/metadata/locks`, { titleLock: true })
  await admin.patch(`/libraries/${shelf.id}`, {
    titlePreprocessingRules: [{ pattern: ' \\(Digital\\)$', replacement: '' }],
  })
  const titles = async () => (await series()).map(({ title }) => title.replace(' (Digital)', '*'))
  const reprocess = async (path: string, body?: object) =>
    (await finished(await limited.post(path, body))).message
  const some = { seriesIds: [alpha!.id, beta!.id, hidden!.id] }
  const path = `/libraries/${shelf.id}/series/titles/reprocess`
  t.equal(await reprocess(path, { dryRun: true }), '2 titles to be changed')
  t.equal(
    await reprocess('/series/bulk/titles/reprocess', { ...some, dryRun: true }),
    '1 titles to be changed',
  )
  t.same(await titles(), ['Alpha*', 'Beta*', 'Gamma*', 'Hidden*'])
  t.equal(await reprocess(`/series/${alpha!.id}/title/reprocess`), '1 titles to be changed')
  t.same(await titles(), ['Alpha', 'Beta*', 'Gamma*', 'Hidden*'])
  t.equal(await reprocess(path), '1 titles to be changed')
  t.same(await titles(), ['Alpha', 'Beta*', 'Gamma', 'Hidden*'], 'neither locked nor hidden')
  t.equal(
    await reprocess('/series/titles/reprocess', { libraryId: shelf.id }),
    'There are no titles to be changed',
  )
  t.equal((await limited.post(`/series/${hidden!.id}/title/reprocess`)).status, 404)
  t.equal((await reader.post(path)).status, 403)
  t.equal(
    (await admin.get(`/series?libraryId=${shelf.id}&sort=name,desc`)).body.data[3].title,
    'Alpha',
  )
  t.same(await doctorFindings(all), [])
})

t.test('what is requested while other work runs is read, too', async t => {
  const files = Array.from({ length: 40 }, (_, i) => [`Many/Many ${i + 1}.cbz`, comic()] as const)
  const shelf = await createTestLibrary(t, all, Object.fromEntries(files))
  await shelf.scan()
  const books = await shelf.books()
  const titles = async () => new Set((await shelf.books()).map(book => book.title))
  const expected = await titles()
  const edited = books.values()
  const edit = async () => {
    for (const { id } of edited) {
      const { status } = await admin.patch(`/books/${id}/metadata`, { title: 'Set by a user' })
      t.equal(status, 200)
    }
  }
  await Promise.all(Array.from({ length: 4 }, edit))
  t.same(await titles(), new Set(['Set by a user']))
  const responses = []
  for (const { id, seriesId } of books) {
    responses.push(await admin.delete(`/books/${id}/metadata`))
    if (responses.length % 10 === 0) await admin.post(`/series/${seriesId}/analyze`)
  }
  t.ok(responses.every(({ status }) => status < 300))
  const scans = await all.sql`select id from scan where library_id = ${shelf.id}`
  for (const { id } of scans) await waitForScan(all, id)
  t.same(await titles(), expected)
  t.same(await all.sql`select from pending_file where library_id = ${shelf.id}`, [])
  t.same(
    await all.sql`select failed, state from scan where library_id = ${shelf.id} and failed <> '{}'`,
    [],
  )
})
