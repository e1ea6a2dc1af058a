// Event streams over HTTP: format, visibility, resume, several processes.
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { publish, publishProgress } from '../../../lib/store/event/publish.ts'
import { receiveNotifications } from '../../kit/accounts.ts'
import { openSseClient } from '../../kit/http/sse.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const library = newId()
const [series, book] = [newId(), newId()]
const keepAlive = /: keep-alive\n(?:id: \d+\n)?\n/g
const created = {
  type: 'book_created' as const,
  libraryId: library,
  books: [{ id: book, seriesId: series }],
}

test('entity stream, byte for byte', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 300 })
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }

  const client = await openSseClient(t, all.base, { headers })
  t.equal(client.status, 200)
  t.ok(client.text.startsWith(': connected\nid: 0\n\n'), 'a comment is sent immediately')
  t.equal(client.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.equal(client.headers.get('cache-control'), 'no-cache, no-transform')
  t.equal(client.headers.get('x-accel-buffering'), 'no')
  t.equal(client.headers.get('content-encoding'), null)
  t.equal(client.headers.get('etag'), null)

  await publish(all.sql, [
    { ...created, fields: ['title'] },
    { type: 'series_updated', libraryId: library, series: [series, newId()] },
    { type: 'library_created', libraryId: library },
    { type: 'cover_updated', libraryId: library, books: created.books },
    { type: 'cover_updated', libraryId: library, series: [series] },
    { type: 'progress_updated', libraryId: library, books: created.books, accountId: admin.id },
  ])
  const events = await client.waitForEvents(7)
  const [first] = events
  const { timestamp } = first!.data
  t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const text = client.text.slice(client.text.indexOf('event: ')).replace(keepAlive, '')
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

  await waitUntil(() => client.text.includes('\n\n: keep-alive\n\n'))
  t.pass('a comment keeps the connection alive')

  const unnamed = await openSseClient(t, all.base, {
    path: '/events/stream?unnamed=1&lastEventId=6',
    headers,
  })
  await unnamed.waitForEvents(1)
  const [, block, id] = unnamed.text.replace(keepAlive, '').split('\n\n')
  t.match(JSON.parse(block!.slice('data: '.length)), { type: 'progress_updated' }, 'nothing else')
  t.equal(id, 'id: 7')

  const head = await fetch(`${all.base}/api/v1/events/stream`, { method: 'HEAD', headers })
  t.equal(head.status, 200)
  t.match(head.headers.get('content-type'), /^text\/event-stream/)
})

test('tasks and scans have separate streams', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  const entities = await openSseClient(t, all.base, { headers })
  const tasks = await openSseClient(t, all.base, { path: '/tasks/stream', headers })
  const scans = await openSseClient(t, all.base, { path: '/scans/stream', headers })
  await publishProgress(all.sql, [
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
  const [task] = await tasks.waitForEvents(1)
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
  const [scan] = await scans.waitForEvents(1)
  t.match(scan, { event: 'scan_progress', data: { libraryId: library, filesTotal: 3 } })
  await publish(all.sql, [created])
  t.same(
    (await entities.waitForEvents(1)).map(e => e.event),
    ['book_created'],
  )
  t.equal(tasks.events().length, 1)
  t.equal(scans.events().length, 1)
})

test('a new subscriber of the scan stream receives the active scans', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const { sql } = all
  await sql`insert into library (id, name, root) values (${library}, 'Shelf', '/nowhere')`
  await sql`
    insert into scan (id, library_id, mode, state, started_at)
    values (${newId()}, ${library}, 'normal', 'running', now())`
  const headers = { 'x-api-key': admin.key }
  const scans = await openSseClient(t, all.base, { path: '/scans/stream', headers })
  t.match(await scans.waitForEvents(1), [
    { event: 'scan_progress', id: null, data: { library_id: library, status: 'running' } },
  ])
  const tasks = await openSseClient(t, all.base, { path: '/tasks/stream?unnamed=true', headers })
  t.match(await tasks.waitForEvents(1), [{ event: null, id: null, data: { status: 'running' } }])
})

test('no events are lost between processes', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  const other = await all.startAnother()
  const [here, there] = await Promise.all([
    openSseClient(t, all.base, { headers }),
    openSseClient(t, other.base, { headers }),
  ])
  const many = Array.from({ length: 1_200 }, () => ({ id: newId(), seriesId: series }))
  await publish(all.sql, [{ ...created, books: many }])
  const received = await here.waitForEvents(1_200)
  t.same(
    received.map(e => e.data.book_id),
    many.map(b => b.id),
  )
  t.same(
    await there.waitForEvents(1_200),
    received,
    'both processes send the same events with the same ids',
  )

  await other.close()
  t.ok(await there.waitForEnd())
  t.match(there.text, /\n\n: closing\n\n$/, 'a server that shuts down sends a comment')
  await publish(all.sql, [created])
  const resumed = await openSseClient(t, all.base, {
    headers: { ...headers, 'last-event-id': '731' },
  })
  const rest = await resumed.waitForEvents(470)
  t.same(
    rest.map(e => e.id),
    Array.from({ length: 470 }, (_, i) => String(732 + i)),
    'also from the middle of a batch',
  )
  t.same(rest.slice(0, 469), received.slice(731))
})

test('a client that missed deleted events receives a resync', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  await publish(all.sql, [created, created, created])
  for (const lastId of ['4', '99999', 'abc', '-1', '1e3', '123456789012345678901']) {
    const client = await openSseClient(t, all.base, {
      headers: { ...headers, 'last-event-id': lastId },
    })
    const [resync] = await client.waitForEvents(1)
    t.match(resync, {
      event: 'resync',
      id: '3',
      data: { type: 'resync', reason: 'unknown', timestamp: /Z$/ },
    })
    client.close()
  }
  await all.sql`
    with gone as (delete from event where number <= 2)
    insert into setting (key, value) values ('events_pruned', '2')`
  const late = await openSseClient(t, all.base, { path: '/events/stream?lastEventId=1', headers })
  t.match(await late.waitForEvents(1), [{ event: 'resync', id: '3', data: { reason: 'expired' } }])
  await publish(all.sql, [created])
  t.match(await late.waitForEvents(2), [{ event: 'resync' }, { event: 'book_created', id: '4' }])
  const justInTime = await openSseClient(t, all.base, {
    path: '/events/stream?lastEventId=2',
    headers,
  })
  t.same(
    (await justInTime.waitForEvents(2)).map(e => e.id),
    ['3', '4'],
  )
  await all.sql`delete from event`
  await all.sql`update setting set value = '4' where key = 'events_pruned'`
  const upToDate = await openSseClient(t, all.base, {
    path: '/events/stream?lastEventId=4',
    headers,
  })
  t.same(await upToDate.waitForQuiet(), [], 'an empty table is no loss for an up-to-date client')
})

test('a client receives a resync when its account sees something else', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 100 })
  const reader = await all.createUser('reader')
  const client = await openSseClient(t, all.base, { headers: { 'x-api-key': reader.key } })
  await publish(all.sql, [created])
  await client.waitForEvents(1)
  await all.sql`update account set age_limit = 12 where id = ${reader.id}`
  await receiveNotifications(all.sql)
  const events = await client.waitForEvents(2)
  t.match(events[1], { event: 'resync', data: { type: 'resync', reason: 'account' } })
})

test('a stream ends when the permission is revoked', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 200 })
  const gone = await all.createUser('admin')
  const [byKey, other] = await Promise.all([
    openSseClient(t, all.base, { headers: { 'x-api-key': gone.key } }),
    openSseClient(t, all.base, { headers: { 'x-api-key': (await all.createUser('reader')).key } }),
  ])
  await all.sql`update api_key set is_active = false where account_id = ${gone.id}`
  await receiveNotifications(all.sql)
  await publish(all.sql, [created])
  t.ok(await byKey.waitForEnd())
  t.same(byKey.events(), [], 'no events after that')
  t.equal((await other.waitForEvents(1)).length, 1)
})

test('the session cookie is accepted, and CORS allows Last-Event-ID', async t => {
  const all = await startApiWithoutPipeline(t)
  const account = { username: 'ana', email: 'ana@example.org', password: 'Correct-horse-1' }
  const setup = await all.anonymous.post('/setup/initialize', account)
  t.equal(setup.status, 201, JSON.stringify(setup.body))
  const cookie = setup.headers.get('set-cookie')!.split(';')[0]!
  for (const path of ['/events/stream', '/tasks/stream', '/scans/stream']) {
    const client = await openSseClient(t, all.base, { path, headers: { cookie } })
    t.equal(client.status, 200, path)
    t.match(client.text, /^: connected\n/)
  }
  const preflight = await fetch(`${all.base}/api/v1/events/stream`, {
    method: 'OPTIONS',
    headers: { origin: 'https://example.org', 'access-control-request-method': 'GET' },
  })
  t.match(preflight.headers.get('access-control-allow-headers'), /last-event-id/)
})

test('an account can open 500 streams per process', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  const agent = new Agent({ keepAlive: false })
  t.teardown(() => agent.destroy())
  const open = async () => {
    const request = get(`${all.base}/api/v1/events/stream`, { headers, agent })
    request.on('error', () => {})
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
  for (let i = 0; i < 10; i++) {
    const responses = await Promise.all(Array.from({ length: 50 }, open))
    t.ok(responses.every(response => response.statusCode === 200))
  }
  const last = await open()
  t.equal(last.statusCode, 429)
  t.ok(Number(last.headers['retry-after']) > 0)
  const reader = await all.createUser('reader')
  t.equal((await openSseClient(t, all.base, { headers: { 'x-api-key': reader.key } })).status, 200)
  agent.destroy()
  await waitUntil(async () => (await openSseClient(t, all.base, { headers })).status === 200)
  t.pass('closed streams do not count')
})
