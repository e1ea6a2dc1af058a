// Streams as clients see them: the bytes, who gets what, and that nothing is lost between processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { tell, tellProgress } from '../../../lib/event/publish.ts'
import { newId } from '../../../lib/id.ts'
import { serveAlone } from '../../kit/server.ts'
import { listen } from '../../kit/sse.ts'

const library = newId()
const [series, book] = [newId(), newId()]
const created = {
  type: 'book_created' as const,
  libraryId: library,
  books: [{ id: book, seriesId: series }],
}

test('a stream is what the specification says, byte for byte', async t => {
  const all = await serveAlone(t, {}, { keepAlive: 300 })
  const admin = await all.as('admin')
  const headers = { 'x-api-key': admin.key }

  const client = await listen(t, all.base, { headers })
  t.equal(client.status, 200)
  t.equal(client.text, ': connected\nid: 0\n\n', 'a comment comes at once')
  t.equal(client.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.equal(client.headers.get('cache-control'), 'no-cache, no-transform')
  t.equal(client.headers.get('x-accel-buffering'), 'no')
  t.equal(client.headers.get('content-encoding'), null)
  t.equal(client.headers.get('etag'), null)

  await tell(all.sql, [
    { ...created, fields: ['title'] },
    { type: 'series_updated', libraryId: library, series: [series, newId()] },
    { type: 'library_created', libraryId: library },
    { type: 'cover_updated', libraryId: library, books: created.books },
    { type: 'cover_updated', libraryId: library, series: [series] },
    { type: 'progress_updated', libraryId: library, books: created.books, accountId: admin.id },
  ])
  const events = await client.until(7)
  const [first] = events
  const { timestamp } = first!.data
  t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const text = client.text.slice(client.text.indexOf('event: '))
  const ids = `"book_id":"${book}","series_id":"${series}","library_id":"${library}"`
  const again = `"bookId":"${book}","seriesId":"${series}","libraryId":"${library}"`
  t.ok(
    text.startsWith(
      `event: book_created\ndata: {"type":"book_created",${ids},${again},"fields":["title"],"timestamp":"${timestamp}"}\nid: 1\n\nevent: series_updated\n`,
    ),
    text,
  )
  t.same(
    events.map(e => [e.event, e.id]),
    [
      ['book_created', '1'],
      ['series_updated', '2'],
      ['series_updated', '3'],
      ['library_created', '4'],
      ['cover_updated', '5'],
      ['cover_updated', '6'],
      ['progress_updated', '7'],
    ],
  )
  t.same(Object.keys(events[3]!.data), ['type', 'library_id', 'libraryId', 'timestamp'])
  t.match(events[4]!.data, {
    entity_type: 'book',
    entityType: 'book',
    entityId: book,
    bookId: book,
  })
  t.match(events[5]!.data, { entityType: 'series', entity_id: series, seriesId: series })
  t.match(events[6]!.data, { user_id: admin.id, userId: admin.id, book_id: book })

  await sleep(700)
  t.match(client.text, /\n\n: keep-alive\n\n/, 'a comment keeps the connection alive')

  const unnamed = await listen(t, all.base, {
    path: '/events/stream?unnamed=1&lastEventId=6',
    headers,
  })
  await unnamed.until(1)
  const block = unnamed.text.split('\n\n')[1]!
  t.match(block, /^data: \{"type":"progress_updated",.*\}\nid: 7$/)

  const head = await fetch(`${all.base}/api/v1/events/stream`, { method: 'HEAD', headers })
  t.equal(head.status, 200)
  t.match(head.headers.get('content-type'), /^text\/event-stream/)
})

test('tasks and scans have streams of their own', async t => {
  const all = await serveAlone(t)
  const admin = await all.as('admin')
  const headers = { 'x-api-key': admin.key }
  const entities = await listen(t, all.base, { headers })
  const tasks = await listen(t, all.base, { path: '/tasks/stream', headers })
  const scans = await listen(t, all.base, { path: '/scans/stream', headers })
  await tellProgress(all.sql, [
    {
      stream: 'task',
      type: 'task_progress',
      data: {
        task_id: book,
        task_type: 'scan_library',
        status: 'running',
        progress: { current: 1, total: 2, message: 'reading' },
      },
    },
    {
      stream: 'scan',
      type: 'scan_progress',
      libraryId: library,
      data: { library_id: library, files_total: 3 },
    },
  ])
  const [task] = await tasks.until(1)
  t.match(task, {
    event: 'task_progress',
    data: {
      type: 'task_progress',
      task_id: book,
      taskId: book,
      task_type: 'scan_library',
      taskType: 'scan_library',
      status: 'running',
      progress: { current: 1, total: 2, message: 'reading' },
      timestamp: /Z$/,
    },
  })
  const [scan] = await scans.until(1)
  t.match(scan, { event: 'scan_progress', data: { libraryId: library, filesTotal: 3 } })
  await tell(all.sql, [created])
  t.same(
    (await entities.until(1)).map(e => e.event),
    ['book_created'],
  )
  t.equal(tasks.events().length, 1)
  t.equal(scans.events().length, 1)
})

test('whoever comes to the stream of scans sees at once what runs', async t => {
  const all = await serveAlone(t)
  const admin = await all.as('admin')
  const { sql } = all
  await sql`insert into library (id, name, root) values (${library}, 'Shelf', '/nowhere')`
  await sql`
    insert into scan (id, library_id, mode, state, started_at)
    values (${newId()}, ${library}, 'normal', 'running', now())`
  const headers = { 'x-api-key': admin.key }
  const scans = await listen(t, all.base, { path: '/scans/stream', headers })
  t.match(await scans.until(1), [
    { event: 'scan_progress', id: null, data: { library_id: library, status: 'running' } },
  ])
  const tasks = await listen(t, all.base, { path: '/tasks/stream?unnamed=true', headers })
  t.match(await tasks.until(1), [{ event: null, id: null, data: { status: 'running' } }])
})

test('nothing is lost on the way from one process to another', async t => {
  const all = await serveAlone(t)
  const admin = await all.as('admin')
  const headers = { 'x-api-key': admin.key }
  const other = await all.another()
  const [here, there] = await Promise.all([
    listen(t, all.base, { headers }),
    listen(t, other.base, { headers }),
  ])
  const many = Array.from({ length: 1_200 }, () => ({ id: newId(), seriesId: series }))
  await tell(all.sql, [{ ...created, books: many }])
  const told = await here.until(1_200)
  t.same(
    told.map(e => e.data.book_id),
    many.map(b => b.id),
  )
  t.same(await there.until(1_200), told, 'both processes tell the same under the same ids')

  await other.close()
  t.ok(await there.ended())
  t.match(there.text, /\n\n: closing\n\n$/, 'a server that ends says so')
  await tell(all.sql, [created])
  const resumed = await listen(t, all.base, { headers: { ...headers, 'last-event-id': '731' } })
  const rest = await resumed.until(470)
  t.same(
    rest.map(e => e.id),
    Array.from({ length: 470 }, (_, i) => String(732 + i)),
    'also from the middle of what was told together',
  )
  t.same(rest.slice(0, 469), told.slice(731))
})

test('a client that cannot have what it missed is told to load anew', async t => {
  const all = await serveAlone(t)
  const admin = await all.as('admin')
  const headers = { 'x-api-key': admin.key }
  await tell(all.sql, [created, created, created])
  for (const lastId of ['4', '99999', 'abc', '-1', '1e3', '123456789012345678901']) {
    const client = await listen(t, all.base, { headers: { ...headers, 'last-event-id': lastId } })
    const [resync] = await client.until(1)
    t.match(resync, {
      event: 'resync',
      id: '3',
      data: { type: 'resync', reason: 'unknown', timestamp: /Z$/ },
    })
    client.leave()
  }
  await all.sql`
    with gone as (delete from event where number <= 2)
    insert into setting (key, value) values ('events_pruned', '2')`
  const late = await listen(t, all.base, { path: '/events/stream?lastEventId=1', headers })
  t.match(await late.until(1), [{ event: 'resync', id: '3', data: { reason: 'expired' } }])
  await tell(all.sql, [created])
  t.match(await late.until(2), [{ event: 'resync' }, { event: 'book_created', id: '4' }])
  const justInTime = await listen(t, all.base, { path: '/events/stream?lastEventId=2', headers })
  t.same(
    (await justInTime.until(2)).map(e => e.id),
    ['3', '4'],
  )
  await all.sql`delete from event`
  await all.sql`update setting set value = '4' where key = 'events_pruned'`
  const upToDate = await listen(t, all.base, { path: '/events/stream?lastEventId=4', headers })
  t.same(await upToDate.quiet(), [], 'an empty table is no loss for whoever read it all')
})

test('a stream ends with the right to it', async t => {
  const all = await serveAlone(t, {}, { keepAlive: 200 })
  const gone = await all.as('admin')
  const [byKey, other] = await Promise.all([
    listen(t, all.base, { headers: { 'x-api-key': gone.key } }),
    listen(t, all.base, { headers: { 'x-api-key': (await all.as('reader')).key } }),
  ])
  await all.sql`update api_key set is_active = false where account_id = ${gone.id}`
  await all.sql`select pg_notify('account', ${gone.id})`
  await sleep(100)
  await tell(all.sql, [created])
  t.ok(await byKey.ended())
  t.same(byKey.events(), [], 'nothing is told after that')
  t.equal((await other.until(1)).length, 1)
})

test('a browser comes with its cookie, and other sites may name the last event', async t => {
  const all = await serveAlone(t)
  const account = { username: 'ana', email: 'ana@example.org', password: 'Correct-horse-1' }
  const setup = await all.anyone.post('/setup/initialize', account)
  t.equal(setup.status, 201, JSON.stringify(setup.body))
  const cookie = setup.headers.get('set-cookie')!.split(';')[0]!
  for (const path of ['/events/stream', '/tasks/stream', '/scans/stream']) {
    const client = await listen(t, all.base, { path, headers: { cookie } })
    t.equal(client.status, 200, path)
    t.match(client.text, /^: connected\n/)
  }
  const preflight = await fetch(`${all.base}/api/v1/events/stream`, {
    method: 'OPTIONS',
    headers: { origin: 'https://example.org', 'access-control-request-method': 'GET' },
  })
  t.match(preflight.headers.get('access-control-allow-headers'), /last-event-id/)
})

test('an account has 500 streams in a process', async t => {
  const all = await serveAlone(t)
  const admin = await all.as('admin')
  const headers = { 'x-api-key': admin.key }
  const stop = new AbortController()
  const answers = []
  for (let i = 0; i < 501; i++)
    answers.push(await fetch(`${all.base}/api/v1/events/stream`, { headers, signal: stop.signal }))
  t.ok(answers.slice(0, 500).every(a => a.status === 200))
  const last = answers.at(-1)!
  t.equal(last.status, 429)
  t.ok(Number(last.headers.get('retry-after')) > 0)
  const reader = await all.as('reader')
  t.equal((await listen(t, all.base, { headers: { 'x-api-key': reader.key } })).status, 200)
  stop.abort()
  await sleep(200)
  t.equal((await listen(t, all.base, { headers })).status, 200, 'those that left do not count')
})
