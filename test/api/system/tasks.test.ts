// Background tasks over HTTP.
import { truncateSync } from 'node:fs'
import { hostname } from 'node:os'
import t, { type Test } from 'tap'
import { firstIdAt, newId } from '../../../lib/base/id.ts'
import { findOrCreateLibrary } from '../../../lib/catalog/library/library-write.ts'
import { requestScan } from '../../../lib/catalog/scan/scan-request.ts'
import { receiveNotifications } from '../../kit/accounts.ts'
import { lastEvent, messagesSince } from '../../kit/events.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { holdBooks } from '../../kit/hold-books.ts'
import { comic, comicFiles, createTestLibrary, largeComic } from '../../kit/library.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const { queue } = all.pipeline
const admin = await all.createUser('admin')
const later = { afterSeconds: 3600 }

t.test('a scan is a task with the id of the scan', async t => {
  const files = { 'A/1.cbz': largeComic(), 'A/2.cbz': largeComic(), 'A/3.cbz': largeComic() }
  const shelf = await createTestLibrary(t, all, files)
  const { id } = await shelf.scan()
  await over(id)
  const { status, body } = await admin.get(`/tasks/${id}`)
  t.equal(status, 200)
  t.match(body, {
    id,
    taskType: 'scan_library',
    type: 'scan_library',
    status: 'completed',
    libraryId: shelf.id,
    seriesId: null,
    bookId: null,
    progress: { current: 3, total: 3, message: 'done' },
    attempts: 1,
    error: null,
    params: { library_id: shelf.id, mode: 'normal' },
  })
  t.ok(body.createdAt <= body.startedAt && body.startedAt <= body.completedAt)

  const tasks = (await admin.get(`/tasks?libraryId=${shelf.id}`)).body.data
  const booksOf = (type: string) =>
    tasks
      .filter((task: any) => task.type === type && task.status === 'completed')
      .reduce((sum: number, task: any) => sum + task.progress.current, 0)
  for (const type of ['read_books', 'generate_thumbnails', 'hash_books'])
    t.equal(booksOf(type), 3, type)
  t.notMatch(JSON.stringify(tasks), shelf.root, 'no server paths')
})

t.test('administrators see which process ran a task or scan, other accounts do not', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(1))
  const { id } = await shelf.scan()
  await over(id)
  const place = { host: hostname(), pid: process.pid }
  const hidden = { host: null, pid: null }
  const maintainer = await all.createUser('maintainer')
  const reader = await all.createUser('reader')
  const scanOf = (body: any) => {
    const records = body.data ?? [body]
    return records.find((record: any) => record.id === id)
  }
  for (const path of [
    `/tasks/${id}`,
    `/tasks?libraryId=${shelf.id}`,
    `/libraries/${shelf.id}/scan-status`,
    `/scans/latest?libraryId=${shelf.id}`,
  ]) {
    t.match(scanOf((await admin.get(path)).body), place, path)
    t.match(scanOf((await maintainer.get(path)).body), hidden, path)
    if (!path.startsWith('/tasks')) t.match(scanOf((await reader.get(path)).body), hidden, path)
  }
  await admin.post(`/libraries/${shelf.id}/scan`)
  for (const scan of (await maintainer.get('/scans/active')).body.data) t.match(scan, hidden)
})

t.test('an analysis has its own task type', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(1))
  await shelf.scan()
  const [book] = await shelf.books()
  const { body } = await admin.post(`/books/${book!.id}/analyze`)
  await over(body.taskId)
  t.match((await admin.get(`/tasks/${body.taskId}`)).body, {
    taskType: 'analyze_books',
    status: 'completed',
    libraryId: shelf.id,
  })
})

t.test('lists are newest first, filtered and paged', async t => {
  const [library, other] = [await libraryOf(t), await libraryOf(t)]
  const scanId = newId()
  const sent: string[] = []
  for (let i = 0; i < 7; i++)
    sent.push(
      ...(await queue.send(sql, 'cover', [{ scanId, libraryId: library, ids: [newId()] }], later)),
    )
  await queue.send(sql, 'hash', [{ scanId, libraryId: library, ids: [newId(), newId()] }], later)
  await queue.send(sql, 'hash', [{ scanId, libraryId: other, ids: [newId()] }], later)
  const ids = async (query: string) =>
    (await admin.get(`/tasks?libraryId=${library}${query}`)).body.data.map((task: any) => task.id)

  t.same(await ids('&type=generate_thumbnails'), sent.toReversed())
  t.same(await ids('&task_type=generate_thumbnails&pageSize=2'), sent.toReversed().slice(0, 2))
  t.equal((await ids('')).length, 8)
  t.equal((await ids('&status=pending')).length, 8)
  t.same(await ids('&status=processing'), [])
  const { body, headers } = await admin.get(
    `/tasks?libraryId=${library}&type=generate_thumbnails&page=2&page_size=3`,
  )
  t.same(
    body.data.map((task: any) => task.id),
    sent.toReversed().slice(3, 6),
  )
  t.match(body, { page: 2, pageSize: 3, total: 7, totalPages: 3 })
  t.match(headers.get('link'), /rel="next"/)
  const [first] = (await admin.get(`/tasks?libraryId=${library}&type=hash_books`)).body.data
  t.match(first, { progress: { current: 0, total: 2 }, params: { books: 2, scan_id: scanId } })
  t.notMatch(JSON.stringify(first), '"ids"', 'counts instead of lists')
  for (const invalid of ['status=waiting', 'type=nothing', 'page=x', 'libraryId=x'])
    t.equal((await admin.get(`/tasks?${invalid}`)).status, 400, invalid)
})

t.test(
  'tasks of visible libraries are visible, those of no library only without limits',
  async t => {
    const [seen, hidden] = [await libraryOf(t), await libraryOf(t)]
    const scanId = newId()
    const payload = (libraryId: string) => [{ scanId, libraryId, ids: [newId()] }]
    const [mine] = await queue.send(sql, 'cover', payload(seen), later)
    const [hiddenTask] = await queue.send(sql, 'cover', payload(hidden), later)
    const [none] = await queue.send(sql, 'maintenance', [{}], later)
    const keeper = await all.createUser('maintainer')
    await sql`insert into account_library (account_id, library_id) values (${keeper.id}, ${seen})`
    await sql`update account set all_libraries = false where id = ${keeper.id}`
    await receiveNotifications(sql)

    const listed = (await keeper.get('/tasks?status=pending&pageSize=500')).body.data.map(
      (o: any) => o.id,
    )
    t.ok(listed.includes(mine) && !listed.includes(none))
    t.notOk(listed.includes(hiddenTask))
    t.match((await keeper.get(`/tasks?libraryId=${hidden}`)).body, { data: [], total: 0 })
    t.equal((await keeper.get(`/tasks/${mine}`)).status, 200)
    for (const [method, path] of [
      ['GET', `/tasks/${hiddenTask}`],
      ['POST', `/tasks/${hiddenTask}/cancel`],
      ['POST', `/tasks/${hiddenTask}/retry`],
    ] as const)
      t.equal((await keeper.request(method, path)).status, 404, `${method} ${path}`)
    const stats = (await keeper.get('/tasks/stats')).body
    t.equal(stats.byType.generate_thumbnails.pending, 1)
    await queue.deleteWaiting(sql, 'cover', seen)
    await queue.deleteWaiting(sql, 'cover', hidden)
    await admin.post(`/tasks/${none}/cancel`)

    const reader = await all.createUser('reader')
    t.equal((await reader.get('/tasks')).status, 403)
    t.equal((await reader.post(`/tasks/${mine}/cancel`)).status, 403)
  },
)

t.test('pending tasks can be cancelled, ended ones cannot', async t => {
  const libraryId = await libraryOf(t)
  const [id] = await queue.send(sql, 'purge', [{ libraryId }], later)
  t.match((await admin.post(`/tasks/${id}/cancel`)).body, { message: /cancelled/ })
  const { body } = await admin.get(`/tasks/${id}`)
  t.equal(body.status, 'cancelled')
  t.ok(body.completedAt)
  t.equal((await admin.post(`/tasks/${id}/cancel`)).status, 400)
  t.equal((await admin.post(`/tasks/${id}/retry`)).status, 400)
  t.equal((await admin.post(`/tasks/${newId()}/cancel`)).status, 404)
  t.equal((await admin.get('/tasks/x')).status, 404)

  const [erasing] = await queue.send(sql, 'erase', [{ libraryId }], later)
  t.equal(
    (await admin.post(`/tasks/${erasing}/cancel`)).status,
    400,
    'a deletion cannot be cancelled',
  )
})

t.test('the task of a failed scan fails and can be retried', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(1))
  await sql`update library set root = ${Buffer.from('/nowhere/at/all')} where id = ${shelf.id}`
  const { id, state } = await shelf.scan()
  t.equal(state, 'unavailable')
  await over(id)
  const { body } = await admin.get(`/tasks/${id}`)
  t.match(body, { status: 'failed', attempts: 1, error: String, lastError: String })
  t.notMatch(body.error, '/nowhere')

  await sql`update library set root = ${Buffer.from(shelf.root)} where id = ${shelf.id}`
  const before = await lastEvent(sql)
  t.equal((await admin.post(`/tasks/${id}/retry`)).status, 200)
  const [first] = await messagesSince(sql, 'scan', before)
  t.match(first, { scan_id: id, status: 'pending' }, 'streams show it again')
  await over(id)
  t.match((await admin.get(`/tasks/${id}`)).body, { status: 'completed', error: null })
  t.equal((await shelf.books()).length, 1)
  t.equal((await admin.post(`/tasks/${id}/retry`)).status, 400, 'it is not failed any more')
})

t.test('cancelling the task of a scan stops all its jobs', async t => {
  // More batches than workers hold at a time.
  const shelf = await createTestLibrary(t, all, comicFiles(260))
  const wanted = { libraryId: shelf.id, mode: 'normal' } as const
  const hold = await holdBooks(sql)
  const id = await requestScan(sql, queue, wanted)
  await hold.isReached()
  t.equal((await admin.post(`/tasks/${id}/cancel`)).status, 200)
  // The workers know it before they go on.
  await receiveNotifications(sql)
  await hold.release()
  await until(async () => !(await queue.hasJobs(shelf.id, ['scan', 'index', 'cover', 'hash'])))
  await until(async () => (await atWork()) === 0)
  t.match((await admin.get(`/tasks/${id}`)).body, { status: 'cancelled' })
  t.equal((await admin.get(`/libraries/${shelf.id}/scan-status`)).body.status, 'cancelled')
  t.ok((await shelf.books()).length < 260, 'the scan was incomplete')
  t.equal((await admin.post(`/tasks/${id}/cancel`)).status, 400)

  await shelf.scan()
  const books = await shelf.books()
  t.equal(books.length, 260)
  t.ok(
    books.every(book => book.cover && book.sha256),
    'the next scan reads the rest',
  )
})

t.test('a worker thread is stopped while it reads a large file', async t => {
  const other = await createTestLibrary(t, all, comicFiles(1))
  await other.scan()
  const [book] = await other.books()
  const shelf = await createTestLibrary(t, all, { 'Row/heavy.cbz': comic() })
  // A sparse file, which takes many minutes to hash.
  truncateSync(shelf.pathOf('Row/heavy.cbz'), 2_000_000_000_000)
  const id = await requestScan(sql, queue, { libraryId: shelf.id, mode: 'normal' })
  await until(
    async () => (await admin.get('/tasks?type=hash_books&status=running')).body.data.length > 0,
  )
  const [task] = (await admin.get('/tasks?type=hash_books&status=running')).body.data
  t.equal(task.bookId, (await shelf.books())[0]!.id)
  t.equal((await admin.post(`/tasks/${task.id}/cancel`)).status, 200)
  // There is only one thread: the next job shows that it is free.
  const { body } = await admin.post(`/books/${book!.id}/thumbnail/generate`, { force: true })
  await over(body.taskId)
  t.match((await admin.get(`/tasks/${task.id}`)).body, { status: 'cancelled' })
  t.equal((await shelf.book('heavy.cbz')).sha256, null)
  t.equal((await admin.get(`/tasks/${id}`)).body.status, 'completed', 'the scan had completed')
})

t.test('statistics have counts and durations by type', async t => {
  const libraryId = await libraryOf(t)
  const [id] = await queue.send(sql, 'purge', [{ libraryId }], later)
  // Jobs that wait for a quarter of an hour, and since now.
  const waiting = await Promise.all(
    ['old', 'new'].map(key => queue.send(sql, 'purge', [{ libraryId }], { ...later, key })),
  )
  const since = firstIdAt(new Date(Date.now() - 900_000))
  await sql`update pgboss.job set id = ${since} where id = ${waiting[0]![0]!}`
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where name = 'scan'`
  // The maintenance of the queue would end the attempt.
  await sql`
    update pgboss.job set state = 'active', started_on = now(), heartbeat_seconds = 3600,
      heartbeat_on = now() - interval '90 seconds'
    where id = ${id!}`
  // Statistics are cached for as long as their query took fifty times.
  const stats = async () => (await admin.get('/tasks/stats')).body
  await until(async () => (await stats()).byType.purge_deleted.running > 0)
  const body = await stats()
  const { oldestPendingAgeSeconds: age, ...purges } = body.byType.purge_deleted
  t.match(purges, { pending: 2, running: 1, processing: 1, stale: 1 })
  t.ok(age >= 900 && age < 1_800, `${age} seconds`)
  const scans = body.byType.scan_library
  t.ok(scans.completed > 0 && scans.p50DurationMs > 0 && scans.p95DurationMs >= scans.p50DurationMs)
  t.equal(scans.oldestPendingAgeSeconds, null)
  const parts = ['pending', 'running', 'completed', 'failed', 'cancelled']
  for (const one of [body, ...Object.values<any>(body.byType)])
    t.equal(
      one.total,
      parts.reduce((sum, name) => sum + one[name], 0),
    )
  await sql`delete from pgboss.job where id in ${sql([id!, since, waiting[1]![0]!])}`
})

async function libraryOf(t: Test) {
  return (await findOrCreateLibrary(sql, { root: Buffer.from(temporaryFolder(t)) })).id
}

/** Number of active jobs. */
async function atWork() {
  const [row] = await sql`
    select count(*)::integer as count from pgboss.job where state = 'active'`
  return row!.count as number
}

async function over(id: string) {
  await until(
    async () => !['pending', 'running'].includes((await admin.get(`/tasks/${id}`)).body.status),
  )
}

async function until(holds: () => Promise<boolean>) {
  await waitUntil(holds)
}

t.test('ended tasks are deleted on request, those that the caller may see', async t => {
  const [library, other] = [await libraryOf(t), await libraryOf(t)]
  // The maintenance of the queue must not delete any of them first.
  await sql`insert into setting (key, value) values ('tasks.retention_days', '365')`
  const limited = await all.createUser('maintainer')
  await sql`update account set all_libraries = false where id = ${limited.id}`
  await sql`insert into account_library (account_id, library_id) values (${limited.id}, ${library})`
  const send = async (libraryId: string, state: string, days: number) => {
    const [id] = await queue.send(sql, 'purge', [{ libraryId }], { ...later, key: newId() })
    const at = new Date(Date.now() - days * 86_400_000)
    const old = `${at
      .getTime()
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}${id!.slice(13)}`
    await sql`
      update pgboss.job set state = ${state}, id = ${old},
        completed_on = ${['created', 'active'].includes(state) ? null : at}
      where name = 'purge' and id = ${id!}`
    return old
  }
  const states = ['created', 'active', 'completed', 'cancelled', 'failed']
  const tasks: { id: string; libraryId: string; state: string; days: number }[] = []
  for (const libraryId of [library, other])
    for (const state of states)
      for (const days of [1, 40])
        tasks.push({ id: await send(libraryId, state, days), libraryId, state, days })
  const left = async () => {
    const rows = await sql`select id from pgboss.job where id = any(${tasks.map(({ id }) => id)})`
    return tasks.filter(({ id }) => rows.some(row => row.id === id))
  }
  const isEnded = ({ state }: { state: string }) => !['created', 'active'].includes(state)
  const reader = await all.createUser('reader')
  t.equal((await reader.delete('/tasks/purge')).status, 403)
  t.equal((await limited.delete('/tasks/purge?days=-1')).status, 400)
  t.ok((await limited.delete('/tasks/purge')).body.deleted >= 3)
  const first = tasks.filter(
    task => !(isEnded(task) && task.days === 40 && task.libraryId === library),
  )
  t.same(await left(), first)
  await limited.delete('/tasks/purge?days=0')
  t.same(
    await left(),
    tasks.filter(task => !(isEnded(task) && task.libraryId === library)),
  )
  await admin.delete('/tasks/purge?days=0')
  t.same(
    await left(),
    tasks.filter(task => !isEnded(task)),
  )
  await sql`delete from pgboss.job where id = any(${tasks.map(({ id }) => id)})`
})
