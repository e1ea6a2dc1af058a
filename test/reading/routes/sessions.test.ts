// Reading sessions, read history, export and erasure over HTTP.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { eventsSince, lastEvent } from '../../kit/events.ts'
import { insertBooks } from '../../kit/reading.ts'
import { startApi } from '../../kit/server.ts'

test('reading sessions and history', async t => {
  const all = await startApi(t)
  const { books, series } = await insertBooks(all.sql, [100, 100])
  const [book, other] = books as [string, string]
  const hidden = await insertBooks(all.sql, [10], 'Hidden')
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const session = (from: number, to: number, fields: object = {}) => ({
    ...{ id: newId(), bookId: book, deviceId: 'phone', kind: 'progress', toPage: 10 },
    ...{ clientStartedAt: ago(from), clientEndedAt: ago(to), ...fields },
  })
  const path = `/books/${book}/progress`
  const history = `/books/${book}/read-history`

  await t.test('each session is accepted or rejected, with the resulting progress', async t => {
    const reader = await all.createUser('reader')
    await hideSeries(all.sql, reader.id, [hidden.series])
    const good = session(60, 50, { toPage: 20, activeDurationMs: 300_000, pagesRead: 10 })
    const bad = {
      book_not_found: [
        session(9, 8, { bookId: newId() }),
        session(9, 8, { bookId: hidden.books[0] }),
      ],
      invalid_time_range: [session(8, 9), session(20_000, 9_000)],
      invalid_percentage: [
        session(9, 8, { toPercentage: 1.1 }),
        session(9, 8, { toPercentage: -1 }),
      ],
      invalid_measurement: [
        session(9, 8, { activeDurationMs: -1 }),
        session(9, 8, { pagesRead: 1.5 }),
        session(9, 8, { toPage: -1 }),
      ],
      duplicate_in_batch: [{ ...good, toPage: 90 }],
    }
    const sessions = [good, ...Object.values(bad).flat()]
    const { status, body } = await reader.post('/reading-sessions', { sessions })
    t.equal(status, 200)
    t.same(body.accepted, [good.id])
    t.match(body.progress, [{ bookId: book, currentPage: 20, updatedAt: good.clientEndedAt }])
    const reasons = new Map(body.rejected.map((one: any) => [one.id, one.reason]))
    for (const [reason, rejected] of Object.entries(bad))
      for (const { id } of rejected) t.equal(reasons.get(id), reason)
    t.equal((await reader.get(path)).body.currentPage, 20)
  })

  await t.test(
    'the session that ended last decides the position; a replay changes nothing',
    async t => {
      const reader = await all.createUser('reader')
      const post = async (...sessions: object[]) =>
        (await reader.post('/reading-sessions', { sessions })).body
      const late = session(90, 80, { toPage: 70, activeDurationMs: 60_000 })
      const newest = session(30, 20, { toPage: 30 })
      t.match((await post(newest)).progress, [
        { currentPage: 30, startedAt: newest.clientStartedAt },
      ])
      const before = await lastEvent(all.sql)
      t.match((await post(late)).progress, [{ currentPage: 30, startedAt: late.clientStartedAt }])
      t.match((await post({ ...late, toPage: 99, kind: 'completed' })).accepted, [late.id])
      t.match((await reader.get(path)).body, { currentPage: 30, completed: false })
      t.same(await eventsSince(all.sql, before), [], 'the position has not changed')
      const { summary } = (await reader.get('/reading-stats')).body
      t.match(summary, {
        sessions: 2,
        sessionsWithoutDuration: 1,
        duration: { measuredMs: 60_000 },
      })
      await post(session(11, 10, { kind: 'reset' }))
      t.equal((await reader.get(path)).status, 204)
      await post(session(60, 50, { toPage: 60 }))
      t.equal((await reader.get(path)).status, 204, 'a late session does not undo a reset')
      const future = session(-60, -90, { toPage: 40, activeDurationMs: 600_000 })
      const [{ updatedAt }] = (await post(future)).progress
      t.ok(updatedAt <= ago(-1), 'a clock that is ahead is bounded by that of the server')
      t.match((await reader.put(path, { currentPage: 5 })).body, { currentPage: 5 })
      t.match((await reader.get('/reading-stats')).body.summary, {
        duration: { measuredMs: 660_000 },
      })
    },
  )

  await t.test('a session with the locator at which the reader ended', async t => {
    const reader = await all.createUser('reader')
    const path = `/books/${book}/progression`
    const href = `/books/${book}/pages/7`
    const locator = { href, type: 'image/jpeg', locations: { totalProgression: 0.07 } }
    const send = async (minutes: number, text: string, more: object = {}) =>
      await reader.post('/reading-sessions', {
        sessions: [session(minutes + 1, minutes, { r2Progression: text, ...more })],
      })
    const sent = await send(9, JSON.stringify({ device: {}, locator }), { toPage: null })
    t.equal(sent.body.accepted.length, 1)
    const { body } = await reader.get(path)
    t.match(body.locator, { type: 'image/jpeg', locations: { totalProgression: 0.07 } })
    t.match(body.locator.href, /pages\/7$/)
    t.match((await reader.get(`/books/${book}/progress`)).body, { currentPage: 7 })
    await send(8, JSON.stringify({ ...locator, href: 'other', title: 'Here' }), { toPage: 9 })
    t.match((await reader.get(path)).body.locator, { href: 'other', title: 'Here' })
    t.match((await reader.get(`/books/${book}/progress`)).body, { currentPage: 9 })
    for (const text of ['{', '{"href":1}', '7', '{"href":"\\u0000","type":"x"}']) {
      t.equal((await send(7, text, { toPage: 10 })).body.accepted.length, 1, text)
      t.notMatch(JSON.stringify((await reader.get(path)).body), /other/)
    }
  })

  await t.test('too many sessions, and fields of a wrong type, are 400', async t => {
    const reader = await all.createUser('reader')
    const many = Array.from({ length: 501 }, () => session(2, 1))
    for (const sessions of [
      many,
      [{ ...session(2, 1), id: 'x' }],
      [session(2, 1, { kind: 'read' })],
      null,
    ])
      t.equal((await reader.post('/reading-sessions', { sessions })).status, 400)
    const { body } = await reader.post('/reading-sessions', { sessions: many.slice(1) })
    t.equal(body.accepted.length, 500)
    t.same((await reader.post('/reading-sessions', { sessions: [] })).body, {
      accepted: [],
      rejected: [],
      progress: [],
    })
  })

  await t.test('passes: read, finished again after a restart, marked as unread', async t => {
    const reader = await all.createUser('reader')
    const count = async () => (await reader.get(history)).body.readCount
    const write = (currentPage: number) => reader.put(path, { currentPage })
    t.same((await reader.get(history)).body, { readCount: 0, lastCompletedAt: null, entries: [] })
    await write(50)
    await write(100)
    t.equal(await count(), 1)
    await write(60)
    await write(100)
    t.equal(await count(), 1, 'the same pass')
    for (const expected of [2, 3]) {
      await write(5)
      await write(100)
      t.equal(await count(), expected, 'finished again after a restart')
    }
    await reader.post(`/books/${book}/read`)
    t.equal(await count(), 3, 'a completed book is not read once more by a mark')
    await reader.post(`/books/${book}/unread`)
    await reader.post(`/books/${book}/read`)
    t.equal(await count(), 4)
    const { entries, lastCompletedAt } = (await reader.get(history)).body
    t.equal(lastCompletedAt, entries[0].completedAt)
    t.same(
      entries
        .map((entry: any) => entry.completedAt)
        .toSorted()
        .toReversed(),
      entries.map((entry: any) => entry.completedAt),
    )
    t.same((await reader.get(`/series/${series}/read-history`)).body.readCount, 0)
    await reader.post(`/books/${other}/read`)
    t.match((await reader.get(`/series/${series}/read-history`)).body, {
      readCount: 1,
      entries: [{ id: null, startedAt: entries[3].startedAt }],
    })
  })

  await t.test('entries of the history are deleted, positions stay', async t => {
    const reader = await all.createUser('reader')
    for (const page of [100, 1, 100, 1, 100]) await reader.put(path, { currentPage: page })
    const { entries } = (await reader.get(history)).body
    t.equal((await reader.delete(`${history}/${entries[1].id}`)).status, 204)
    t.equal((await reader.delete(`${history}/${entries[1].id}`)).status, 404)
    t.same((await reader.get(history)).body.entries, [entries[0], entries[2]])
    t.equal((await reader.get('/reading-stats')).body.summary.booksFinished, 2)
    // A late session has the passes folded again.
    await reader.post('/reading-sessions', { sessions: [session(90, 80, { kind: 'completed' })] })
    t.equal((await reader.get(history)).body.readCount, 2)
    t.equal((await reader.delete(`/series/${series}/read-history`)).status, 204)
    t.equal((await reader.get(history)).body.readCount, 0)
    t.match((await reader.get(path)).body, { completed: true })
    await reader.put(path, { currentPage: 100 })
    t.equal((await reader.get(history)).body.readCount, 0, 'the pass is forgotten')
    for (const page of [1, 100]) await reader.put(path, { currentPage: page })
    t.equal((await reader.get(history)).body.readCount, 1)
    t.equal((await reader.delete(history)).status, 204)
    t.equal((await reader.get(history)).body.readCount, 0)
  })

  await t.test('a long history is exported whole', async t => {
    const reader = await all.createUser('reader')
    const count = 2_500
    // Three entries of a book end at the same time.
    await all.sql`
      insert into reading_session
        (account_id, id, book_id, kind, surface, started_at, ended_at, is_session, measured_ms)
      select ${reader.id}, gen_random_uuid(), (array[${book}, ${other}]::uuid[])[n % 2 + 1],
        'progress', 'session', at, at, true, n
      from generate_series(1, ${count}) as n,
        lateral (select date_trunc('second', now()) - make_interval(mins => n / 6)) t(at)`
    await all.sql`
      insert into reading_pass (account_id, book_id, started_at, completed_at)
      select ${reader.id}, ${book}, at, at from generate_series(1, ${count}) as n,
        lateral (select date_trunc('second', now()) - make_interval(mins => n)) t(at)`
    const { entries } = (await reader.get('/user/reading-export')).body
    const known = entries.map((e: any) => [e.kind, e.measuredMs, e.endedAt].join())
    t.equal(known.length, 2 * count)
    t.equal(new Set(known).size, 2 * count)
  })

  await t.test('all of it is exported, and erased except for the positions', async t => {
    const reader = await all.createUser('reader')
    await all.sql`update series set title = '=1+1,"x"' where id = ${series}`
    const sessions = [session(90, 80, { activeDurationMs: 1000 }), session(70, 60, { toPage: 100 })]
    await reader.post('/reading-sessions', { sessions })
    await reader.put(`/books/${other}/progress`, { currentPage: 3 })
    await reader.post(`/books/${other}/unread`)
    const { entries } = (await reader.get('/user/reading-export')).body
    const kinds = entries.map((entry: any) => entry.kind)
    t.same(kinds, ['progress', 'completed', 'progress', 'reset', 'pass'])
    t.match(entries[0], {
      bookId: book,
      deviceId: 'phone',
      measuredMs: 1000,
      seriesTitle: '=1+1,"x"',
    })
    const csv = await reader.get('/user/reading-export?format=csv')
    const lines = csv.bytes.toString().trimEnd().split('\r\n')
    t.equal(lines.length, 6)
    t.match(lines[1], `,"'=1+1,""x""",`)

    t.equal((await reader.delete('/user/read-history')).status, 204)
    t.match((await reader.get('/reading-stats')).body, {
      summary: { sessions: 0, booksFinished: 0 },
      devices: [],
    })
    t.equal((await reader.get(history)).body.readCount, 0)
    t.match((await reader.get(path)).body, { currentPage: 100, completed: true })
    t.same(
      (await reader.get('/user/reading-export')).body.entries.map((e: any) => e.kind),
      ['reset'],
    )
    const late = [session(100, 99, { bookId: other, toPage: 50 }), session(100, 99)]
    await reader.post('/reading-sessions', { sessions: late })
    t.equal((await reader.get(`/books/${other}/progress`)).status, 204, 'it stays unread')
    t.match((await reader.get(path)).body, { currentPage: 100, completed: true })
    await reader.put(path, { currentPage: 100 })
    t.equal((await reader.get(history)).body.readCount, 0)
  })

  await t.test(
    'devices are named by header, API key or program, and hidden books are 404',
    async t => {
      const reader = await all.createUser('reader')
      const put = (headers: Record<string, string>) =>
        reader.request('PUT', path, { body: { currentPage: 2 }, headers })
      await put({ 'x-device-id': 'tablet', 'x-device-name': 'Tablet' })
      await put({ 'x-codex-device-id': 'peer' })
      await put({})
      const { devices } = (await reader.get('/reading-stats')).body
      const [key] = await all.sql`select id, name from api_key where account_id = ${reader.id}`
      const byId = new Map(devices.map((device: any) => [device.deviceId, device.deviceName]))
      t.same(Object.fromEntries(byId), {
        tablet: 'Tablet',
        peer: null,
        [`apikey:${key!.id}`]: key!.name,
      })
      await put({ 'x-device-id': 'tablet', 'x-device-name': 'Tablet in the kitchen' })
      const renamed = (await reader.get('/reading-stats')).body.devices
      t.match(
        renamed.find((device: any) => device.deviceId === 'tablet'),
        { deviceName: 'Tablet in the kitchen' },
      )
      await hideSeries(all.sql, reader.id, [series])
      for (const [method, address] of [
        ['GET', history],
        ['DELETE', history],
        ['DELETE', `${history}/${newId()}`],
        ['GET', `/series/${series}/read-history`],
        ['DELETE', `/series/${series}/read-history`],
      ] as const)
        t.equal((await reader.request(method, address)).status, 404, `${method} ${address}`)
    },
  )
})
