// Connection losses: transactions, reserved and dedicated connections, recovery of the pool.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect, openDedicatedConnection, type Sql } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { waitUntil } from '../../kit/processes.ts'

const lost = /CONNECTION_(CLOSED|DESTROYED|ENDED)|57P01|ECONNRESET|EPIPE/

const blockEventLoop = (ms: number) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** `done`, the error code, or `hangs`. */
const outcomeOf = (work: Promise<unknown>) =>
  Promise.race([
    work.then(
      () => 'done',
      error => `${error.code ?? error.message}`,
    ),
    sleep(60_000, 'hangs', { ref: false }),
  ])

/** Each connection of the pool may have failed before its socket was closed: then it fails one more statement. */
const untilRecovered = (sql: Sql) =>
  waitUntil(async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => outcomeOf(sql`select pg_sleep(0.05)`)))
    return outcomes.every(outcome => outcome === 'done')
  })

t.test('a transaction fails when its connection is lost, and the pool recovers', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 2 })
  t.teardown(() => sql.end())
  for (let round = 0; round < 5; round++) {
    const failed = sql.begin(async tx => {
      const [me] = await tx`select pg_backend_pid() as pid`
      // Returns when the backend has ended.
      await other`select pg_terminate_backend(${me!.pid}, 60000)`
      await tx`select 1`
    })
    await t.rejects(failed, { code: lost })
  }
  await untilRecovered(sql)
  const results = await Promise.all([1, 2, 3, 4].map(n => sql`select ${n}::integer as n`))
  t.same(
    results.map(rows => rows[0]!.n),
    [1, 2, 3, 4],
  )
})

t.test('notifications reach all listeners of a channel, until each has left', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 1 })
  t.teardown(() => sql.end())
  const received: string[] = []
  const listen = (name: string, channel: string) =>
    sql.listen(channel, payload => received.push(`${name} ${payload}`))
  let begun = 0
  const counted = await sql.listen(
    'counted',
    () => {},
    () => begun++,
  )
  t.equal(begun, 1, 'called at the beginning')
  const first = await listen('first', 'news')
  const second = await listen('second', 'news')
  await listen('third', 'others "quoted"')
  const notified = async (payload: string) => {
    await other`select pg_notify('news', ${payload}), pg_notify('others "quoted"', ${payload})`
    // The last of both.
    await waitUntil(async () => received.includes(`third ${payload}`))
    return received.filter(text => text.endsWith(` ${payload}`)).toSorted()
  }
  t.same(await notified('1'), ['first 1', 'second 1', 'third 1'])
  await first.unlisten()
  await first.unlisten()
  t.same(await notified('2'), ['second 2', 'third 2'])
  await other`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`
  await waitUntil(async () => {
    await other`select pg_notify('news', 'restored')`
    return received.includes('second restored')
  })
  t.same(
    received.filter(text => text.startsWith('first')),
    ['first 1'],
  )
  t.same(await notified('3'), ['second 3', 'third 3'], 'also after a loss')
  t.equal(begun, 2, 'notifications may have been missed')
  await counted.unlisten()
  await second.unlisten()
  t.same(await notified('4'), ['third 4'])
})

t.test('a loss that was not noticed yet is an error soon', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 2 })
  t.teardown(() => sql.end({ timeout: 1 }))
  for (let round = 0; round < 8; round++) {
    const done = sql.begin(async tx => {
      const [me] = await tx`select pg_backend_pid() as pid`
      const termination = other`select pg_terminate_backend(${me!.pid})`.execute()
      await setImmediate()
      blockEventLoop(60)
      if (round % 2 === 1) await termination
      await tx`select 1`
    })
    t.match(await outcomeOf(done), /^done$|CONNECTION_CLOSED|57P01|EPIPE|ECONNRESET/)
  }
  t.match(await outcomeOf(sql`select 1`), /^done$|CONNECTION_CLOSED|57P01|EPIPE|ECONNRESET/)
  await untilRecovered(sql)
  t.equal(await outcomeOf(sql`select 1`), 'done')
})

t.test('repeated losses leave no statement hanging', async t => {
  const { sql: other, url } = await createDatabase(t)
  const sql = connect(url, { max: 3, name: 'victim' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const outcomes: string[] = []
  let isFinished = false
  const worker = async (n: number) => {
    while (!isFinished) {
      const work =
        n % 2 === 0
          ? sql`select ${n}::integer`
          : sql.begin(async tx => {
              await tx`select ${n}::integer`
              await tx`select 2`
            })
      outcomes.push(await outcomeOf(work))
    }
  }
  const workers = Array.from({ length: 8 }, (_, n) => worker(n))
  for (let i = 0; i < 40; i++) {
    await sleep(25)
    await other`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`
  }
  isFinished = true
  await Promise.all(workers)
  t.notOk(outcomes.includes('hangs'))
  t.ok(outcomes.includes('done'))
  t.ok(outcomes.some(outcome => lost.test(outcome)))
  await untilRecovered(sql)
  const results = await Promise.all([1, 2, 3, 4].map(n => outcomeOf(sql`select ${n}::integer`)))
  t.same(results, ['done', 'done', 'done', 'done'])
})

t.test('a dedicated connection reports its loss, and its locks are released', async t => {
  const { sql } = await createDatabase(t)
  let lossEvents = 0
  const connection = openDedicatedConnection(sql, () => {
    lossEvents += 1
  })
  const tryLock = (on: typeof sql) => on`select pg_try_advisory_lock(7) as taken`
  const [backend] =
    await connection.sql`select pg_backend_pid() as pid, pg_try_advisory_lock(7) as taken`
  t.equal(backend!.taken, true)
  t.equal(connection.lossCount(), 0)
  const other = openDedicatedConnection(sql)
  t.same([...(await tryLock(other.sql))], [{ taken: false }])
  // Returns when the backend has ended.
  await sql`select pg_terminate_backend(${backend!.pid}, 60000)`
  await waitUntil(() => lossEvents > 0)
  t.equal(lossEvents, 1)
  t.equal(connection.lossCount(), 1)
  t.same([...(await tryLock(other.sql))], [{ taken: true }])
  await connection.close()
  await other.close()
  t.equal(lossEvents, 1, 'closing does not count as a loss')
})
