// Scans over HTTP: start, status, cancel.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { scanProgressColumns, scansWithTotals } from '../../../../lib/catalog/scan/scan-progress.ts'
import { receiveNotifications } from '../../../kit/accounts.ts'
import { temporaryFolder } from '../../../kit/files/folders.ts'
import { holdBooks } from '../../../kit/hold-books.ts'
import { comic, comicFiles, createTestLibrary, waitForScan } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const maintainer = await all.createUser('maintainer')
const someone = await all.createUser('reader')

t.test('a scan reports its progress and its result', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Akira/1.cbz': comic(),
    'Akira/2.cbz': comic(),
    'Zot/broken.cbz': Buffer.from('no archive'),
  })
  t.equal((await someone.get(`/libraries/${shelf.id}/scan-status`)).status, 404, 'never scanned')
  const latestOf = async () => (await someone.get(`/scans/latest?libraryId=${shelf.id}`)).body.data
  t.same(await latestOf(), [], 'nor listed')
  const started = await maintainer.post(`/libraries/${shelf.id}/scan`)
  t.equal(started.status, 200)
  t.match(started.body, {
    libraryId: shelf.id,
    // A queue worker may have polled just now.
    status: /pending|running/,
    mode: 'normal',
    errors: [],
    completedAt: null,
  })
  t.ok(Date.parse(started.body.startedAt))
  await waitForScan(all, started.body.id)
  const { body } = await someone.get(`/libraries/${shelf.id}/scan-status`)
  t.same(await latestOf(), [body])
  t.match((await someone.get('/scans/latest')).body.data, [body])
  t.match(body, {
    id: started.body.id,
    status: 'completed',
    stage: 'done',
    filesTotal: 3,
    filesProcessed: 3,
    seriesFound: 2,
    booksFound: 3,
    booksAdded: 2,
    failures: 1,
    message: null,
  })
  t.match(body.errors, [/^Zot\/broken\.cbz: .+ \(not_an_archive\)$/])
  t.ok(body.bytesRead > 0)
  t.ok(Date.parse(body.completedAt) >= Date.parse(body.startedAt))

  shelf.remove('Akira/1.cbz')
  shelf.remove('Akira/2.cbz')
  shelf.write('Akira/3.cbz', comic())
  const scan = await maintainer.post(`/libraries/${shelf.id}/scan?mode=deep`)
  t.match(scan.body, { mode: 'deep' })
  await waitForScan(all, scan.body.id)
  t.match((await someone.get(`/libraries/${shelf.id}/scan-status`)).body, {
    status: 'failed',
    errors: [/were not found/, /broken/],
  })

  const [last] = await all.sql`
    update scan set created_at = now() - interval '1 year', started_at = now() - interval '1 year'
    where id = ${scan.body.id} returning id`
  const { body: latest } = await someone.get(`/libraries/${shelf.id}/scan-status`)
  t.equal(latest.id, last!.id, 'also after the clock was set back')
})

t.test('hidden books are not listed among the failures', async t => {
  const shelf = await createTestLibrary(t, all, {
    'A/broken.cbz': Buffer.from('no'),
    'A/1.cbz': comic(),
  })
  await shelf.scan()
  const child = await all.createUser('reader')
  await all.sql`update account set age_limit = 12 where id = ${child.id}`
  await all.sql`update book set age_rating = 18 where name = 'broken.cbz'`
  t.equal((await someone.get(`/libraries/${shelf.id}/scan-status`)).body.errors.length, 1)
  const shown = (await child.get(`/libraries/${shelf.id}/scan-status`)).body
  t.match(shown, { errors: [], seriesFound: 1, booksFound: 1 })
  t.equal((await someone.get(`/libraries/${shelf.id}/scan-status`)).body.booksFound, 2)
})

t.test('a scan can be limited to paths', async t => {
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'B/1.cbz': comic(),
    'B/C/1.cbz': comic(),
  })
  const scan = (body: object) => maintainer.post(`/libraries/${shelf.id}/scan`, body)
  const first = await scan({ paths: ['B/C/', './A/1.cbz'] })
  t.equal(first.status, 200)
  await waitForScan(all, first.body.id)
  t.same(
    (await shelf.books()).map(b => b.folder),
    ['A', 'B/C'],
  )
  const second = await scan({ paths: [`${shelf.root}/B`] })
  await waitForScan(all, second.body.id)
  t.equal((await shelf.books()).length, 3)
  for (const path of ['../other', '/etc', 'A/../../x', `${shelf.root}x`, 'a\u0000b', ''])
    t.equal((await scan({ paths: [path] })).status, 400, path)
  t.equal((await scan({ paths: Array(1001).fill('A') })).status, 400)
  t.equal((await scan({ folders: [] })).status, 400)
})

t.test('concurrent requests start only one scan of a library', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(3))
  const responses = await Promise.all(
    Array.from({ length: 6 }, () => maintainer.post(`/libraries/${shelf.id}/scan`)),
  )
  t.same(responses.map(a => a.status).sort(), [200, 409, 409, 409, 409, 409])
  const active = await someone.get('/scans/active')
  t.equal(active.status, 200)
  t.match(active.body.data, [{ libraryId: shelf.id, status: /pending|running/ }])
  t.equal(
    (await maintainer.put(`/libraries/${shelf.id}`, { path: temporaryFolder(t) })).status,
    409,
  )
  await waitForScan(all, responses.find(a => a.status === 200)!.body.id)
  t.same((await someone.get('/scans/active')).body.data, [])
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan?mode=fast`)).status, 400)
})

t.test('a scan by folder watching does not block requested scans', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(2))
  await all.sql`
    insert into scan (id, library_id, mode, options)
    values (gen_random_uuid(), ${shelf.id}, 'normal', '{"quietMs": 1500}')`
  const paths = ['Row/1.cbz']
  const started = await maintainer.post(`/libraries/${shelf.id}/scan`, { paths })
  t.equal(started.status, 200)
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan`)).status, 409)
  const [row] = await all.sql`
    select id from scan where library_id = ${shelf.id} and not options ? 'quietMs'`
  await waitForScan(all, row!.id)
})

t.test('a cancelled scan stops', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(260))
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan/cancel`)).status, 404)
  const hold = await holdBooks(all.sql)
  const { body } = await maintainer.post(`/libraries/${shelf.id}/scan`)
  all.pipeline.wake()
  await hold.isReached()
  const status = await someone.get(`/libraries/${shelf.id}/scan-status`)
  t.ok(status.body.booksAdded > 0)
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan/cancel`)).status, 204)
  t.equal((await maintainer.post(`/libraries/${shelf.id}/scan/cancel`)).status, 404)
  // The workers know it before they go on.
  await receiveNotifications(all.sql)
  await hold.release()
  const scan = await waitForScan(all, body.id)
  t.equal(scan.state, 'cancelled')
  // What was being stored may still be completed.
  for (let before = -1, books = 0; books !== before; books = (await shelf.books()).length) {
    before = books
    await sleep(300)
  }
  t.ok((await shelf.books()).length < 260, 'no more books are added')
  t.match((await someone.get(`/libraries/${shelf.id}/scan-status`)).body, { status: 'cancelled' })
  t.equal(
    (await maintainer.post(`/libraries/${shelf.id}/scan`)).status,
    200,
    'another scan can start',
  )
})

t.test('readers can see scans but not start them', async t => {
  const shelf = await createTestLibrary(t, all)
  t.equal((await someone.post(`/libraries/${shelf.id}/scan`)).status, 403)
  t.equal((await someone.post(`/libraries/${shelf.id}/scan/cancel`)).status, 403)
  const unknownId = '00000000-0000-7000-8000-000000000000'
  t.equal((await maintainer.post(`/libraries/${unknownId}/scan`)).status, 404)
  t.equal((await maintainer.get(`/libraries/${unknownId}/scan-status`)).status, 404)
})

t.test('a library has the time of its next scheduled scan', async t => {
  const shelf = await createTestLibrary(t, all)
  const scanningConfig = { cronSchedule: '30 4 1 1 *', cronTimezone: 'Asia/Tokyo' }
  const nextScanAt = async (change: object) =>
    (await maintainer.patch(`/libraries/${shelf.id}`, change)).body.nextScanAt
  t.equal(await nextScanAt({}), null, 'without a schedule')
  const next = await nextScanAt({ scanningConfig })
  t.match(next, /^\d{4}-12-31T19:30:00\.000Z$/, 'in the time zone of the schedule')
  t.ok(Date.parse(next) > Date.now())
  await all.sql`
    insert into setting (key, value) values ('scheduler.timezone', '"Europe/Athens"')
    on conflict (key) do update set value = excluded.value`
  const ofServer = { scanningConfig: { ...scanningConfig, cronTimezone: null } }
  t.match(await nextScanAt(ofServer), /-01-01T02:30:00\.000Z$/, 'else in that of the server')
  t.equal(await nextScanAt({ scanningConfig: { ...scanningConfig, enabled: false } }), null)
  t.equal(await nextScanAt({ scanningConfig: { enabled: true }, isActive: false }), null)
})

t.test('the time that a stage still takes follows from its rate so far', async t => {
  const shelf = await createTestLibrary(t, all)
  const estimate = async (scan: Record<string, unknown>) => {
    const row = { id: newId(), library_id: shelf.id, mode: 'normal', ...scan }
    const undo = new Error('not stored')
    let found: number | null = null
    await all.sql
      .begin(async tx => {
        await tx`insert into scan ${tx(row)}`
        const [progress] = await tx<{ secondsLeft: number | null }[]>`
          select ${scanProgressColumns(tx)} from ${scansWithTotals(tx)} s where s.id = ${row.id}`
        found = progress!.secondsLeft
        throw undo
      })
      .catch(error => t.equal(error, undo))
    return found
  }
  const now = Date.now()
  const secondsAgo = (n: number) => new Date(now - n * 1000)
  const walking = { state: 'running', started_at: secondsAgo(10), to_index: 100, added: 25 }
  t.equal(await estimate({ state: 'queued' }), null)
  t.equal(await estimate(walking), null, 'while more files may be found')
  const reading = await estimate({ ...walking, discovered_at: secondsAgo(5) })
  t.ok(reading! >= 30, `${reading} seconds for 75 files after 25 in 10 seconds`)
  const [first, last] = [secondsAgo(20), secondsAgo(10)]
  const covers = { to_cover: 40, covers: 10, first_cover_at: first, last_cover_at: last }
  t.equal(await estimate({ state: 'completed', ...covers }), 30)
  const hashes = { to_hash: 30, hashed: 20, first_hash_at: first, last_hash_at: last }
  t.equal(await estimate({ state: 'completed', ...hashes }), 5)
  t.equal(await estimate({ state: 'completed', to_hash: 30, hashed: 30 }), null)
})
