// The queue over a real database: who gets which job, and what becomes of it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { requestScan } from '../../lib/catalog/scan/scan-request.ts'
import { Unavailable } from '../../lib/errors.ts'
import { newId } from '../../lib/id.ts'
import { openLog } from '../../lib/log.ts'
import { connect } from '../../lib/postgres/db.ts'
import { beat, complete, endDead, fail, giveBack } from '../../lib/queue/complete.ts'
import { reasonOf } from '../../lib/queue/failure-reason.ts'
import { pruneTasks } from '../../lib/queue/maintenance.ts'
import { openQueue } from '../../lib/queue/queue.ts'
import { dedupe } from '../../pipeline/index/dedupe.ts'
import type { Work } from '../../pipeline/work/job-runs.ts'
import { startLanes } from '../../pipeline/work/workers.ts'
import { database } from '../kit/db.ts'
import { shelve } from '../kit/library.ts'

const { sql, url } = await database(t)
const queue = await openQueue(sql, error => t.fail(error.message))
t.teardown(() => queue.close())
const book = () => ({ libraryId: newId(), bookId: newId() })
const batch = (books: number) => ({
  scanId: newId(),
  libraryId: newId(),
  ids: Array.from({ length: books }, newId),
})

async function jobOf(id: string) {
  const [row] = await sql`
    select state, priority, retry_count as retries, output->>'message' as reason, data,
      start_after > now() as "isLater"
    from pgboss.job where id = ${id}`
  return row
}

t.test('what waits under a key stands for a second request, what runs does not', async t => {
  const one = book()
  const [first] = await queue.send(sql, 'show', [one], { key: 'k', afterSeconds: 60 })
  const again = await queue.send(sql, 'show', [{ ...one, again: true }], { key: 'k', priority: 5 })
  t.same(again, [first])
  t.match(await jobOf(first!), { priority: 5, isLater: false, data: { again: true } })
  const [taken] = await queue.take('show')
  const [second] = await queue.send(sql, 'show', [one], { key: 'k' })
  t.not(second, first, 'it may have begun before the reason for the second')
  await complete(sql, [taken!])
  t.match(await jobOf(second!), { state: 'created' })
  await complete(sql, await queue.take('show'))
})

t.test('a request is not overtaken by the job that waits for it', async t => {
  const one = book()
  const [id] = await queue.send(sql, 'show', [one], { key: 'k' })
  await sql.begin(async tx => {
    t.same(await queue.send(tx, 'show', [one], { key: 'k' }), [id])
    t.same(await queue.take('show'), [], 'nobody takes it before the transaction is over')
  })
  const [taken] = await queue.take('show')
  t.equal(taken!.id, id)
  await complete(sql, [taken!])
})

t.test('a request that is rolled back leaves no job and says nothing', async t => {
  const before = await told()
  await sql
    .begin(async tx => {
      await queue.send(tx, 'purge', [{ libraryId: newId() }])
      throw new Error('rolled back')
    })
    .catch(() => {})
  t.same(await queue.take('purge'), [])
  t.same(await told(before.at(-1)?.number), [])
})

t.test('an attempt that another process took over ends nothing', async t => {
  const [id] = await queue.send(sql, 'cover', [batch(3)])
  const [old] = await queue.take('cover')
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where id = ${id!}`
  t.equal(await endDead(sql), 1)
  const [fresh] = await queue.take('cover')
  t.match(fresh, { id, attempt: 1 })
  t.same(await beat(sql, [old!]), new Set(), 'the old one hears that it is none of its business')
  t.same(await beat(sql, [fresh!]), new Set([id]))
  await complete(sql, [old!])
  await giveBack(sql, [old!])
  t.match(await jobOf(id!), { state: 'active' })
  await complete(sql, [fresh!])
  t.same((await jobOf(id!))!.data.books, 3)
  t.notOk((await jobOf(id!))!.data.ids, 'what is done is counted and not kept')
})

t.test('a job that ends its process again and again is given up, with a reason', async t => {
  const [id] = await queue.send(sql, 'purge', [{ libraryId: newId() }])
  let attempts = 0
  while ((await jobOf(id!))!.state !== 'failed' && attempts < 20) {
    await sql`update pgboss.job set start_after = now() where id = ${id!}`
    attempts += (await queue.take('purge')).length
    await sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = ${id!}`
    await endDead(sql)
  }
  t.equal(attempts, 6)
  t.match(await jobOf(id!), { state: 'failed', reason: 'The process that did it came to an end' })
  t.same(await queue.take('purge'), [])
})

t.test('a scan is over when its job is given up', async t => {
  const shelf = await shelve(t, { sql, pipeline: { queue } as never }, {})
  const id = await requestScan(sql, queue, { libraryId: shelf.id, mode: 'normal' })
  const jobs = await queue.take('scan')
  t.same(
    jobs.map(job => job.id),
    [id],
  )
  await fail(sql, jobs, { reason: 'No luck', forGood: true })
  const [scan] = await sql`select state, message from scan where id = ${id}`
  t.match(scan, { state: 'failed', message: 'No luck' })
})

t.test('the next attempt comes later and later', async t => {
  const [id] = await queue.send(sql, 'hash', [batch(1)])
  const pauses: number[] = []
  for (let i = 0; i < 3; i++) {
    await sql`update pgboss.job set start_after = now() where id = ${id!}`
    await fail(sql, await queue.take('hash'), { reason: 'No luck' })
    const [row] = await sql`
      select extract(epoch from start_after - now())::float8 as seconds from pgboss.job
      where id = ${id!}`
    pauses.push(row!.seconds)
  }
  t.ok(pauses[0]! > 4 && pauses[0]! <= 10)
  t.ok(pauses[1]! > 9 && pauses[1]! <= 20)
  t.ok(pauses[2]! > 19 && pauses[2]! <= 40)
  t.match(await jobOf(id!), { state: 'retry', reason: 'No luck', retries: 2 })
  await sql`delete from pgboss.job where id = ${id!}`
})

t.test('reasons are sentences without paths and statements', async t => {
  t.equal(reasonOf(new Unavailable('The disk is away')), 'The disk is away')
  t.equal(reasonOf(Object.assign(new Error('/a/b'), { code: 'ENOSPC' })), 'The disk is full')
  t.equal(
    reasonOf(Object.assign(new Error('select 1'), { code: '57P01' })),
    'The database could not be reached',
  )
  t.equal(reasonOf(new TypeError('x at /a/b.ts:1')), 'It failed; the log says why')
  t.equal(reasonOf(null), 'It failed; the log says why')
})

t.test('tasks are told of as they move, batches only when they run', async t => {
  const before = (await told()).at(-1)?.number
  const libraryId = newId()
  const [id] = await queue.send(sql, 'purge', [{ libraryId }])
  const [many] = await queue.send(sql, 'hash', [batch(2)])
  const lanes = await startLanes(
    { sql, queue, log: openLog({ level: 'silent' }) },
    work({
      purge: async () => {
        throw new Unavailable('No luck')
      },
    }),
    [{ lanes: ['purge', 'hash'], slots: 1 }],
  )
  await until(async () => (await jobOf(many!))!.state === 'completed')
  await lanes.close()
  const events = (await told(before)).map(event => event.data)
  const of = (task: string) => events.filter(event => event.task_id === task)
  t.same(
    of(id!).map(event => [event.status, event.error]),
    [
      ['pending', undefined],
      ['running', undefined],
      ['pending', 'No luck'],
    ],
  )
  t.match(of(id!)[1], {
    task_type: 'purge_deleted',
    progress: { current: 0, total: 1, message: 'erasing missing books' },
    library_id: libraryId,
    started_at: String,
  })
  t.same(
    of(many!).map(event => [event.status, event.progress.current, event.progress.total]),
    [
      ['running', 0, 2],
      ['completed', 2, 2],
    ],
  )
  await sql`delete from pgboss.job`
})

t.test('another process that is idle begins at once', async t => {
  const other = connect(url, { max: 3 })
  const theirs = await openQueue(other, () => {})
  let begun = 0
  const lanes = await startLanes(
    { sql: other, queue: theirs, log: openLog({ level: 'silent' }) },
    work({
      purge: async () => {
        begun = performance.now()
      },
    }),
    [{ lanes: ['purge'], slots: 1 }],
  )
  const waits: number[] = []
  for (let i = 0; i < 12; i++) {
    await sleep(900 + 20 * i)
    begun = 0
    const sent = performance.now()
    await queue.send(sql, 'purge', [{ libraryId: newId() }])
    await until(async () => begun > 0, 1)
    waits.push(begun - sent)
  }
  waits.sort((a, b) => a - b)
  const shown = waits.map(ms => Math.round(ms)).join(' ')
  // Who polls hears of half of them after a second.
  t.ok(waits[6]! < 400, `${shown} ms after the request`)
  await until(async () => (await sql`select from pgboss.job where state = 'active'`).length === 0)
  await lanes.close()
  await theirs.close()
  await other.end()
})

t.test(
  'work stops when its job is called off, and is given back when the process ends',
  async t => {
    const courses: AbortSignal[] = []
    const lanes = await startLanes(
      { sql, queue, log: openLog({ level: 'silent' }) },
      work({
        purge: async (_job, { signal }) => {
          courses.push(signal)
          while (!signal.aborted) await sleep(10)
        },
      }),
      [{ lanes: ['purge'], slots: 2 }],
    )
    const ids = await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'a' })
    ids.push(...(await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'b' })))
    await until(async () => courses.length === 2)
    await sql`update pgboss.job set state = 'cancelled' where id = ${ids[0]!}`
    await sql`select pg_notify('cancel', ${ids[0]!})`
    await until(async () => courses.some(signal => signal.aborted))
    t.equal(courses.filter(signal => signal.aborted).length, 1)
    await lanes.close()
    t.match(await jobOf(ids[0]!), { state: 'cancelled' })
    t.match(await jobOf(ids[1]!), { state: 'retry', retries: 0, reason: null })
    const [next] = await queue.take('purge')
    t.match(next, { id: ids[1], attempt: 0 }, 'no attempt is counted')
    await complete(sql, [next!])
  },
)

t.test('a search for duplicates that is called off stops within its statement', async t => {
  const abort = new AbortController()
  const blocker = await sql.reserve()
  await blocker`begin`
  await blocker`lock table duplicate_group`
  const searching = dedupe(sql, abort.signal)
  await sleep(200)
  const began = performance.now()
  abort.abort()
  await t.rejects(searching, { code: '57014' })
  t.ok(performance.now() - began < 5_000, 'the lock is still held')
  await blocker`rollback`
  blocker.release()
  await dedupe(sql)
})

t.test('what ended long ago is deleted, what waits never', async t => {
  await sql`delete from pgboss.job`
  const old = '01000000-0000-7000-8000-000000000000'
  await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'old', ids: [old] })
  await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'new' })
  await complete(sql, await queue.take('purge', 2))
  const [waits] = await queue.send(sql, 'purge', [{ libraryId: newId() }])
  t.equal(await pruneTasks(sql), 0)
  await sql`update pgboss.job set completed_on = now() - interval '8 days' where id = ${old}`
  t.equal(await pruneTasks(sql), 1)
  t.ok(await jobOf(waits!))
  t.equal((await sql`select from pgboss.job`).length, 2)
  t.same(await queue.reindexing(), [], 'small indexes stay as they are')
})

type Told = { number: number; data: Record<string, any> }

async function told(after = 0) {
  return await sql<Told[]>`
    select number, data from event
    where stream = 'task' and number > ${after} and data->>'task_type' not like 'scan%'
    order by number`
}

/** Does nothing but what is said. */
function work(some: Partial<Work>): Work {
  const nothing = async () => {}
  const all = {
    ...{ scan: nothing, analyze: nothing, index: nothing, cover: nothing, hash: nothing },
    ...{ dedupe: nothing, erase: nothing, show: nothing, purge: nothing, upkeep: nothing },
  }
  return { ...all, ...some }
}

async function until(holds: () => Promise<boolean>, pauseMs = 10) {
  for (let left = 3_000; left > 0; left--) {
    if (await holds()) return
    await sleep(pauseMs)
  }
  throw new Error('it does not happen')
}
