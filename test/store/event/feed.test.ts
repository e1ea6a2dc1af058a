// Event feed: events in the order of their commits, each once, with any number of concurrent writers.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { readBounds, readRowsAfter } from '../../../lib/store/event/event-rows.ts'
import { openEventFeed } from '../../../lib/store/event/feed.ts'
import { type NewEvent, publish } from '../../../lib/store/event/publish.ts'
import type { StreamClient } from '../../../lib/store/event/stream-clients.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'

const log = { warn: () => {}, debug: () => {} }
const libraryId = newId()
const event = (type: NewEvent['type'] = 'library_updated') => ({ type, libraryId })

async function openTestFeed(t: Test) {
  const { sql, url } = await createDatabase(t)
  const feed = await openEventFeed({ sql, clientSql: sql, log })
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await feed.close()
  }
  t.teardown(close)
  const join = () => feed.join({ accountId: newId(), stream: 'entity', end: () => {} })
  return { sql, url, feed, close, join }
}

test('numbers are assigned in the order of commits, and a reader misses none', async t => {
  const { sql, url, feed, join } = await openTestFeed(t)
  const writers = connect(url, { max: 20 })
  t.teardown(() => writers.end({ timeout: 1 }))
  const client = await join()
  t.teardown(client.leave)
  let position = feed.tail()
  const numbers: number[] = []
  const reading = (async () => {
    for (let waits = 0; numbers.length < 600 && waits < 2_000; ) {
      const page = await feed.after(position, 'entity')
      for (const row of page.rows)
        for (let i = row.count - 1; i >= 0; i--) numbers.push(row.number - i)
      position = page.upTo
      if (page.rows.length > 0) continue
      waits += 1
      await client.wait(50)
    }
  })()
  // Each commits after a different delay, so that the last to write is often the first to commit.
  await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      writers.begin(async tx => {
        await publish(tx, [event()])
        await sleep(((i * 37) % 50) + 1)
        await publish(tx, [{ type: 'series_created', libraryId, series: [newId(), newId()] }])
      }),
    ),
  )
  await reading
  t.match(await readBounds(sql), { tail: 600, lastAssigned: 600 })
  t.same(
    numbers,
    Array.from({ length: 600 }, (_, i) => i + 1),
    'every number once, in order',
  )
  const disorder = await sql`
    select
    from (select created_at < lag(created_at) over (order by number) as is_earlier from event) e where is_earlier`
  t.equal(disorder.length, 0, 'times are in the order of the numbers')
})

test('events of a rolled back transaction are never published', async t => {
  const { sql, feed, join } = await openTestFeed(t)
  const client = await join()
  t.teardown(client.leave)
  await sql
    .begin(async tx => {
      await publish(tx, [event()])
      throw new Error('no')
    })
    .catch(() => {})
  await publish(sql, [event('library_created')])
  await client.wait(60_000)
  const page = await feed.after(0, 'entity')
  t.same(
    page.rows.map(row => row.type),
    ['library_created'],
  )
})

test('old rows are read from the table, page by page', async t => {
  const { sql, feed, join } = await openTestFeed(t)
  const series = Array.from({ length: 7_300 }, newId)
  await publish(sql, [{ type: 'series_created', libraryId, series }])
  await publish(
    sql,
    Array.from({ length: 450 }, () => event()),
  )
  const client = await join()
  t.teardown(client.leave)
  t.equal(feed.tail(), 7_750)
  let position = 0
  let events = 0
  let pages = 0
  for (let isFull = true; isFull; pages++) {
    const page = await feed.after(position, 'entity')
    t.ok(page.rows.length <= 200)
    const count = page.rows.reduce((sum, row) => sum + row.count, 0)
    t.ok(count <= 2_500, `${count} events`)
    events += count
    position = page.upTo
    isFull = page.isFull
  }
  t.equal(events, 7_750)
  t.equal(position, 7_750)
  t.ok(pages > 5)
  const [otherStream, middle] = await Promise.all([
    feed.after(0, 'task'),
    readRowsAfter(sql, 1_234, 'entity'),
  ])
  t.match(
    otherStream,
    { rows: [], upTo: 7_750, isFull: false },
    'rows of other streams are skipped',
  )
  t.equal(middle.rows[0]!.number, 1_500, 'a row is returned again until its last event was read')
})

test('events are read although their notification was lost', async t => {
  const { sql, feed, join } = await openTestFeed(t)
  const clients: StreamClient[] = [await join(), await join()]
  t.teardown(() => {
    for (const client of clients) client.leave()
  })
  // The listening connection breaks; events published until it is restored cause no notification.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen%'`
  await publish(sql, [event()])
  const startedAt = Date.now()
  while (feed.tail() === 0 && Date.now() - startedAt < 60_000) await clients[0]!.wait(500)
  t.equal(feed.tail(), 1)
  await publish(sql, [event()])
  while (feed.tail() === 1 && Date.now() - startedAt < 120_000) await clients[1]!.wait(500)
  t.equal(feed.tail(), 2)
})

test('without clients nothing is read, and a new client starts at the tail', async t => {
  const { sql, feed, join } = await openTestFeed(t)
  const first = await join()
  first.leave()
  await publish(sql, [event(), event()])
  await sleep(100)
  t.equal(feed.tail(), 0)
  const second = await join()
  t.equal(feed.tail(), 2)
  await publish(sql, [event()])
  await second.wait(60_000)
  const page = await feed.after(2, 'entity')
  t.same(
    page.rows.map(row => row.number),
    [3],
  )
  second.leave()
})

test('a closing feed accepts no clients', async t => {
  const { close, join } = await openTestFeed(t)
  await close()
  const error = await join().catch((error: unknown) => error)
  t.match(error, { name: 'Unavailable', status: 503 })
})
