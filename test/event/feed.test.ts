// Reading what is told: in the order of commits, once each, however many write at the same time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { bounds, rowsAfter } from '../../lib/event/event-rows.ts'
import { openFeed } from '../../lib/event/feed.ts'
import { type Told, tell } from '../../lib/event/publish.ts'
import type { Listener } from '../../lib/event/subscribers.ts'
import { newId } from '../../lib/id.ts'
import { connect } from '../../lib/postgres/db.ts'
import { database } from '../kit/db.ts'

const log = { warn: () => {} }
const libraryId = newId()
const one = (type: Told['type'] = 'library_updated') => ({ type, libraryId })

async function opened(t: Test) {
  const { sql, url } = await database(t)
  const feed = await openFeed({ sql, questions: sql, log })
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

test('numbers are given in the order of commits, and a reader misses nothing', async t => {
  const { sql, url, feed, join } = await opened(t)
  const writers = connect(url, { max: 20 })
  t.teardown(() => writers.end({ timeout: 1 }))
  const listener = await join()
  t.teardown(listener.leave)
  let position = feed.tail()
  const seen: number[] = []
  let isDone = false
  const reading = (async () => {
    while (!isDone || seen.length < 600) {
      const page = await feed.after(position, 'entity')
      for (const row of page.rows)
        for (let i = row.count - 1; i >= 0; i--) seen.push(row.number - i)
      position = page.upTo
      if (page.rows.length === 0) await listener.wait(50)
      if (isDone && page.rows.length === 0 && seen.length < 600) break
    }
  })()
  // Each writes first and commits when it pleases, so that the last to write is often the first.
  await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      writers.begin(async tx => {
        await tell(tx, [one()])
        await sleep(((i * 37) % 50) + 1)
        await tell(tx, [{ type: 'series_created', libraryId, series: [newId(), newId()] }])
      }),
    ),
  )
  await sleep(300)
  isDone = true
  await reading
  t.match(await bounds(sql), { tail: 600, ever: 600 })
  t.same(
    seen,
    Array.from({ length: 600 }, (_, i) => i + 1),
    'every number once, in order',
  )
  const disorder = await sql`
    select
    from (select at < lag(at) over (order by number) as is_earlier from event) e where is_earlier`
  t.equal(disorder.length, 0, 'times grow with the numbers')
})

test('what a transaction took back was never told', async t => {
  const { sql, feed, join } = await opened(t)
  const listener = await join()
  t.teardown(listener.leave)
  await sql
    .begin(async tx => {
      await tell(tx, [one()])
      throw new Error('no')
    })
    .catch(() => {})
  await tell(sql, [one('library_created')])
  await listener.wait(2_000)
  const page = await feed.after(0, 'entity')
  t.same(
    page.rows.map(row => row.type),
    ['library_created'],
  )
})

test('old rows are read from the table, page by page', async t => {
  const { sql, feed, join } = await opened(t)
  const series = Array.from({ length: 7_300 }, newId)
  await tell(sql, [{ type: 'series_created', libraryId, series }])
  await tell(
    sql,
    Array.from({ length: 450 }, () => one()),
  )
  const listener = await join()
  t.teardown(listener.leave)
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
  const [none, middle] = await Promise.all([feed.after(0, 'task'), rowsAfter(sql, 1_234, 'entity')])
  t.match(none, { rows: [], upTo: 7_750, isFull: false }, 'other streams are passed over')
  t.equal(middle.rows[0]!.number, 1_500, 'a row that was begun comes again')
})

test('nobody who listens waits for a notice that got lost', async t => {
  const { sql, feed, join } = await opened(t)
  const listeners: Listener[] = [await join(), await join()]
  t.teardown(() => {
    for (const listener of listeners) listener.leave()
  })
  // The connection that listens breaks; what is told meanwhile has no notice.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen%'`
  await tell(sql, [one()])
  const before = Date.now()
  while (feed.tail() === 0 && Date.now() - before < 8_000) await listeners[0]!.wait(500)
  t.equal(feed.tail(), 1)
  await tell(sql, [one()])
  while (feed.tail() === 1 && Date.now() - before < 16_000) await listeners[1]!.wait(500)
  t.equal(feed.tail(), 2)
})

test('while nobody listens nothing is read, and whoever comes begins at the end', async t => {
  const { sql, feed, join } = await opened(t)
  const first = await join()
  first.leave()
  await tell(sql, [one(), one()])
  await sleep(100)
  t.equal(feed.tail(), 0)
  const second = await join()
  t.equal(feed.tail(), 2)
  await tell(sql, [one()])
  await second.wait(2_000)
  const page = await feed.after(2, 'entity')
  t.same(
    page.rows.map(row => row.number),
    [3],
  )
  second.leave()
})

test('a feed that closes lets nobody in', async t => {
  const { close, join } = await opened(t)
  await close()
  const error = await join().catch((error: unknown) => error)
  t.match(error, { name: 'Unavailable', status: 503 })
})
