// Job queue on a real database: keys, claims, retries, events, cancellation and pruning.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Unavailable } from '../../../lib/base/errors.ts'
import { newId } from '../../../lib/base/id.ts'
import { openLog } from '../../../lib/base/log.ts'
import { failScans } from '../../../lib/catalog/scan/scan-failure.ts'
import { requestScan } from '../../../lib/catalog/scan/scan-request.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { resetFutureJobs, watchClock } from '../../../lib/store/queue/clock.ts'
import {
  complete,
  fail,
  heartbeat,
  reclaimStale,
  release,
} from '../../../lib/store/queue/complete.ts'
import { failureReason } from '../../../lib/store/queue/failure-reason.ts'
import { pruneJobs } from '../../../lib/store/queue/maintenance.ts'
import { openQueue, type Queue } from '../../../lib/store/queue/queue.ts'
import { dedupe } from '../../../pipeline/finalize/dedupe.ts'
import { startWorkers } from '../../../pipeline/work/workers.ts'
import { createDatabase } from '../../kit/db.ts'
import { lastEvent, messagesSince } from '../../kit/events.ts'
import { createTestLibrary } from '../../kit/library.ts'
import { waitUntil as until } from '../../kit/processes.ts'

const plentyOfSpace = { shortage: () => null, reportFull() {} }

const { sql, url } = await createDatabase(t)
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

t.test(
  'a waiting job with the same key serves a second request, a running one does not',
  async t => {
    const payload = book()
    const [first] = await queue.send(sql, 'coverOnDemand', [payload], {
      key: 'k',
      afterSeconds: 60,
    })
    const again = await queue.send(sql, 'coverOnDemand', [{ ...payload, again: true }], {
      key: 'k',
      priority: 5,
    })
    t.same(again, [first])
    t.match(await jobOf(first!), { priority: 5, isLater: false, data: { again: true } })
    const [claimed] = await queue.claim('coverOnDemand')
    const [second] = await queue.send(sql, 'coverOnDemand', [payload], { key: 'k' })
    t.not(second, first, 'it may have started before the reason for the second')
    await complete(sql, [claimed!])
    t.match(await jobOf(second!), { state: 'created' })
    await complete(sql, await queue.claim('coverOnDemand'))
  },
)

t.test(
  'a waiting job is not claimed before the transaction of the second request ends',
  async t => {
    const payload = book()
    const [id] = await queue.send(sql, 'coverOnDemand', [payload], { key: 'k' })
    await sql.begin(async tx => {
      t.same(await queue.send(tx, 'coverOnDemand', [payload], { key: 'k' }), [id])
      t.same(await queue.claim('coverOnDemand'), [])
    })
    const [claimed] = await queue.claim('coverOnDemand')
    t.equal(claimed!.id, id)
    await complete(sql, [claimed!])
  },
)

t.test('a request that is rolled back leaves no job and no event', async t => {
  const before = await taskEvents()
  await sql
    .begin(async tx => {
      await queue.send(tx, 'purge', [{ libraryId: newId() }])
      throw new Error('rolled back')
    })
    .catch(() => {})
  t.same(await queue.claim('purge'), [])
  t.same(await taskEvents(before.at(-1)?.number), [])
})

t.test('a list without jobs enqueues nothing', async t => {
  const before = await taskEvents()
  t.same(await queue.send(sql, 'dedupe', [], { key: 'all' }), [])
  t.same(await queue.claim('dedupe'), [])
  t.same(await taskEvents(before.at(-1)?.number), [])
})

t.test('an attempt that another process took over changes nothing', async t => {
  const [id] = await queue.send(sql, 'cover', [batch(3)])
  const [old] = await queue.claim('cover')
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where id = ${id!}`
  t.equal(await reclaimStale(sql), 1)
  const [fresh] = await queue.claim('cover')
  t.match(fresh, { id, attempt: 1 })
  t.same(await heartbeat(sql, [old!]), new Set(), 'the old attempt is not claimed any more')
  t.same(await heartbeat(sql, [fresh!]), new Set([id]))
  await complete(sql, [old!])
  await release(sql, [old!])
  t.match(await jobOf(id!), { state: 'active' })
  await complete(sql, [fresh!])
  t.same((await jobOf(id!))!.data.books, 3)
  t.notOk((await jobOf(id!))!.data.ids, 'the ids are replaced by their number')
})

t.test('a job that crashes its process again and again fails with a reason', async t => {
  const [id] = await queue.send(sql, 'purge', [{ libraryId: newId() }])
  let attempts = 0
  while ((await jobOf(id!))!.state !== 'failed' && attempts < 20) {
    await sql`update pgboss.job set start_after = now() where id = ${id!}`
    attempts += (await queue.claim('purge')).length
    await sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = ${id!}`
    await reclaimStale(sql)
  }
  t.equal(attempts, 6)
  t.match(await jobOf(id!), { state: 'failed', reason: 'The process that ran the task ended' })
  t.same(await queue.claim('purge'), [])
})

t.test('a scan fails together with its job', async t => {
  const shelf = await createTestLibrary(t, { sql, pipeline: { queue } as never }, {})
  const id = await requestScan(sql, queue, { libraryId: shelf.id, mode: 'normal' })
  const jobs = await queue.claim('scan')
  t.same(
    jobs.map(job => job.id),
    [id],
  )
  const next = await createTestLibrary(t, { sql, pipeline: { queue } as never }, {})
  const waiting = await requestScan(sql, queue, { libraryId: next.id, mode: 'normal' })
  const before = await lastEvent(sql)
  await fail(sql, jobs, { reason: 'No luck', isFinal: true, onFailed: failScans })
  const scans =
    await sql`select id, state, message from scan where id in (${id}, ${waiting}) order by number`
  t.same(
    [...scans],
    [
      { id, state: 'failed', message: 'No luck' },
      { id: waiting, state: 'queued', message: null },
    ],
  )
  t.match(await messagesSince(sql, 'scan', before), [
    { scan_id: id, status: 'failed', message: 'No luck' },
  ])
})

t.test('the delay between attempts grows', async t => {
  const [id] = await queue.send(sql, 'hash', [batch(1)])
  // Since before the failure and since after it: the machine may pause in between.
  const pauses: { most: number; least: number }[] = []
  for (let i = 0; i < 3; i++) {
    await sql`update pgboss.job set start_after = now() where id = ${id!}`
    const jobs = await queue.claim('hash')
    const [before] = await sql`select extract(epoch from now()) as time`
    await fail(sql, jobs, { reason: 'No luck' })
    const [row] = await sql`
      select (extract(epoch from start_after) - ${before!.time}::numeric)::float8 as most,
        extract(epoch from start_after - now())::float8 as least
      from pgboss.job where id = ${id!}`
    pauses.push(row as (typeof pauses)[number])
  }
  t.ok(pauses[0]!.most > 4 && pauses[0]!.least <= 10)
  t.ok(pauses[1]!.most > 9 && pauses[1]!.least <= 20)
  t.ok(pauses[2]!.most > 19 && pauses[2]!.least <= 40)
  t.match(await jobOf(id!), { state: 'retry', reason: 'No luck', retries: 2 })
  await sql`delete from pgboss.job where id = ${id!}`
})

t.test('failure reasons are sentences without paths and statements', async t => {
  t.equal(failureReason(new Unavailable('The disk is away')), 'The disk is away')
  t.equal(failureReason(Object.assign(new Error('/a/b'), { code: 'ENOSPC' })), 'The disk is full')
  t.equal(
    failureReason(Object.assign(new Error('select 1'), { code: '57P01' })),
    'The database could not be reached',
  )
  t.equal(failureReason(new TypeError('x at /a/b.ts:1')), 'Internal error; see the server log')
  t.equal(failureReason(null), 'Internal error; see the server log')
})

t.test('state changes are published, waiting batches are not', async t => {
  const before = (await taskEvents()).at(-1)?.number
  const libraryId = newId()
  const [id] = await queue.send(sql, 'purge', [{ libraryId }])
  const [many] = await queue.send(sql, 'hash', [batch(2)])
  const workers = await startWorkers(
    { sql, queue, space: plentyOfSpace, log: openLog({ level: 'silent' }) },
    {
      purge: {
        group: 'test',
        async run() {
          throw new Unavailable('No luck')
        },
      },
      hash: { group: 'test', run: async () => {} },
    },
    { test: 1 },
  )
  await until(async () => (await jobOf(many!))!.state === 'completed')
  await workers.close()
  const events = (await taskEvents(before)).map(event => event.data)
  const of = (task: string) => events.filter(event => event.task_id === task)
  t.same(
    of(id!)
      // The next attempt may begin on a slow machine.
      .slice(0, 3)
      .map(event => [event.status, event.error]),
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

t.test('an idle process starts a job of another process at once', async t => {
  const other = connect(url, { max: 3 })
  const otherQueue = await openQueue(other, () => {})
  let runs = 0
  const workers = await startWorkers(
    { sql: other, queue: otherQueue, space: plentyOfSpace, log: openLog({ level: 'silent' }) },
    {
      purge: {
        group: 'test',
        async run() {
          runs += 1
        },
      },
    },
    { test: 1 },
    // Polling alone would take an hour.
    { min: 3_600_000, max: 3_600_000 },
  )
  for (let i = 0; i < 12; i++) {
    // Also before it is idle again.
    await sleep(i * 10)
    const before = runs
    await queue.send(sql, 'purge', [{ libraryId: newId() }])
    await until(async () => runs > before)
  }
  t.equal(runs, 12)
  await until(async () => (await sql`select from pgboss.job where state = 'active'`).length === 0)
  await workers.close()
  await otherQueue.close()
  await other.end()
})

t.test('a job stops when it is cancelled, and is released when the process ends', async t => {
  const signals: AbortSignal[] = []
  const workers = await startWorkers(
    { sql, queue, space: plentyOfSpace, log: openLog({ level: 'silent' }) },
    {
      purge: {
        group: 'test',
        async run(_job, { signal }) {
          signals.push(signal)
          while (!signal.aborted) await sleep(10)
        },
      },
    },
    { test: 2 },
  )
  const ids = await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'a' })
  ids.push(...(await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'b' })))
  await until(async () => signals.length === 2)
  await sql`update pgboss.job set state = 'cancelled' where id = ${ids[0]!}`
  await sql`select pg_notify('cancel', ${ids[0]!})`
  await until(async () => signals.some(signal => signal.aborted))
  t.equal(signals.filter(signal => signal.aborted).length, 1)
  await workers.close()
  t.match(await jobOf(ids[0]!), { state: 'cancelled' })
  t.match(await jobOf(ids[1]!), { state: 'retry', retries: 0, reason: null })
  const [next] = await queue.claim('purge')
  t.match(next, { id: ids[1], attempt: 0 }, 'no attempt is counted')
  await complete(sql, [next!])
})

t.test('a cancelled search for duplicates stops within its statement', async t => {
  const abort = new AbortController()
  const blocker = await sql.reserve()
  await blocker`begin`
  await blocker`lock table duplicate_group`
  const searching = dedupe(sql, abort.signal)
  await until(async () => {
    const waiting = await sql`
      select from pg_locks
      where not granted and relation = 'duplicate_group'::regclass`
    return waiting.length > 0
  })
  abort.abort()
  await t.rejects(searching, { code: '57014' }, 'while the lock is held')
  await blocker`rollback`
  blocker.release()
  await dedupe(sql)
})

t.test('jobs that ended long ago are pruned, waiting ones never', async t => {
  await sql`delete from pgboss.job`
  const old = '01000000-0000-7000-8000-000000000000'
  await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'old', ids: [old] })
  await queue.send(sql, 'purge', [{ libraryId: newId() }], { key: 'new' })
  await complete(sql, await queue.claim('purge', 2))
  const [waits] = await queue.send(sql, 'purge', [{ libraryId: newId() }])
  t.equal(await pruneJobs(sql), 0)
  await sql`update pgboss.job set completed_on = now() - interval '8 days' where id = ${old}`
  t.equal(await pruneJobs(sql), 1)
  t.ok(await jobOf(waits!))
  t.equal((await sql`select from pgboss.job`).length, 2)
  t.same(await queue.reindexStatements(), [], 'small indexes stay as they are')
})

type TaskEvent = { number: number; data: Record<string, any> }

async function taskEvents(after = 0) {
  return await sql<TaskEvent[]>`
    select number, data from event
    where stream = 'task' and number > ${after} and data->>'task_type' not like 'scan%'
    order by number`
}

t.test('jobs are due again after the clock was set back', async t => {
  await sql`delete from pgboss.job`
  const send = async (name: 'hash' | 'cover', count = 1, afterSeconds = 0) =>
    await queue.send(
      sql,
      name,
      Array.from({ length: count }, () => batch(1)),
      { afterSeconds },
    )
  const [first, second] = await send('hash', 2)
  const [delayed] = await send('cover', 1, 200)
  const [running] = await queue.claim('hash')
  t.equal(running!.id, first)
  t.equal(await resetFutureJobs(sql), 0, 'nothing is in the future')
  for (const seconds of [60, 3_600, 86_400 * 400]) {
    await sql`
      update pgboss.job
      set created_on = created_on + make_interval(secs => ${seconds}),
        start_after = start_after + make_interval(secs => ${seconds}),
        heartbeat_on = heartbeat_on + make_interval(secs => ${seconds})
      where name = 'hash'`
    t.same(await queue.claim('hash'), [], 'blocked')
    t.equal(await resetFutureJobs(sql), 2)
    t.equal((await jobOf(second!))!.isLater, false)
  }
  const [row] = await sql`select heartbeat_on <= now() as past from pgboss.job where id = ${first!}`
  t.ok(row!.past)
  t.ok((await jobOf(delayed!))!.isLater, 'a wanted delay stays')

  let time = 1e12
  const check = watchClock(sql, async () => time)
  await check()
  await sql`update pgboss.job set start_after = now() + interval '1 hour' where id = ${second!}`
  time += 3_600_000
  t.equal(await check(), 0, 'the clock went on')
  time -= 3_600_000
  t.equal(await check(), 1, 'the clock was set back')
  await sql`delete from pgboss.job`
})

t.test('names with ready jobs are found in their order', async t => {
  const names = ['cover', 'purge', 'dedupe', 'maintenance'] as const
  const job = { libraryId: newId() }
  await queue.send(sql, 'purge', [job])
  await queue.send(sql, 'cover', [{ ...job, scanId: newId(), ids: [] }], { afterSeconds: 60 })
  await queue.send(sql, 'maintenance', [{}])
  t.same(await queue.readyNames([...names]), ['purge', 'maintenance'])
  await queue.claim('purge')
  t.same(await queue.readyNames([...names]), ['maintenance'])
  t.same(await queue.readyNames([]), [])
  await sql`delete from pgboss.job`
})

t.test('a full disk is reported to the space guard and not logged as an error', async t => {
  const levels: string[] = []
  let reports = 0
  const log = new Proxy(openLog({ level: 'silent' }), {
    get: (target, key) =>
      ['error', 'warn', 'debug'].includes(String(key))
        ? () => void levels.push(String(key))
        : Reflect.get(target, key),
  })
  const full = Object.assign(new Error('could not extend file'), { code: '53100' })
  const fullQueue: Queue = {
    ...queue,
    readyNames: async names => names,
    claim: () => Promise.reject(full),
  }
  const workers = await startWorkers(
    {
      ...{ sql, log, queue: fullQueue },
      space: { shortage: () => null, reportFull: () => void reports++ },
    },
    { purge: { group: 'a', run: async () => {} } },
    { a: 2 },
  )
  while (reports < 3) await sleep(10)
  await workers.close()
  t.same([...new Set(levels)], ['debug'])
})
