// A database that goes away in the middle of things and comes back.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect, openSession } from '../../lib/postgres/db.ts'
import { database } from '../kit/db.ts'

const lost = /CONNECTION_(CLOSED|DESTROYED|ENDED)|57P01|ECONNRESET|EPIPE/

const busy = (ms: number) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** `done`, the code of its error, or `hangs`. */
const settled = (work: Promise<unknown>) =>
  Promise.race([
    work.then(
      () => 'done',
      error => `${error.code ?? error.message}`,
    ),
    sleep(20_000, 'hangs', { ref: false }),
  ])

t.test('a transaction whose connection is lost fails, and the pool goes on', async t => {
  const { sql: other, url } = await database(t)
  const sql = connect(url, { max: 2 })
  t.teardown(() => sql.end())
  for (let round = 0; round < 5; round++) {
    const failed = sql.begin(async tx => {
      const [me] = await tx`select pg_backend_pid() as pid`
      await other`select pg_terminate_backend(${me!.pid})`
      await sleep(50)
      await tx`select 1`
    })
    await t.rejects(failed, { code: lost })
  }
  const held = await sql.reserve()
  const [me] = await held`select pg_backend_pid() as pid`
  await other`select pg_terminate_backend(${me!.pid})`
  await sleep(50)
  await t.rejects(held`select 1`, { code: lost })
  held.release()
  // Until the pool has heard of it.
  await sleep(500)
  const answers = await Promise.all([1, 2, 3, 4].map(n => sql`select ${n}::integer as n`))
  t.same(
    answers.map(rows => rows[0]!.n),
    [1, 2, 3, 4],
  )
})

t.test('a loss that nobody has heard of yet is an error as well, and soon', async t => {
  const { sql: other, url } = await database(t)
  const sql = connect(url, { max: 2 })
  t.teardown(() => sql.end({ timeout: 1 }))
  for (let round = 0; round < 8; round++) {
    const done = sql.begin(async tx => {
      const [me] = await tx`select pg_backend_pid() as pid`
      const gone = other`select pg_terminate_backend(${me!.pid})`.execute()
      await setImmediate()
      busy(60)
      if (round % 2 === 1) await gone
      await tx`select 1`
    })
    t.match(await settled(done), /^done$|CONNECTION_CLOSED|57P01|EPIPE|ECONNRESET/)
  }
  t.match(await settled(sql`select 1`), /^done$|CONNECTION_CLOSED|57P01|EPIPE|ECONNRESET/)
  t.equal(await settled(sql`select 1`), 'done')
})

t.test('connections that are lost again and again leave nothing hanging', async t => {
  const { sql: other, url } = await database(t)
  const sql = connect(url, { max: 3, name: 'victim' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const outcomes: string[] = []
  let isOver = false
  const worker = async (n: number) => {
    while (!isOver) {
      const work =
        n % 2 === 0
          ? sql`select ${n}::integer`
          : sql.begin(async tx => {
              await tx`select ${n}::integer`
              await tx`select 2`
            })
      outcomes.push(await settled(work))
    }
  }
  const workers = Array.from({ length: 8 }, (_, n) => worker(n))
  for (let i = 0; i < 40; i++) {
    await sleep(25)
    await other`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`
  }
  isOver = true
  await Promise.all(workers)
  t.notOk(outcomes.includes('hangs'))
  t.ok(outcomes.includes('done'))
  t.ok(outcomes.some(outcome => lost.test(outcome)))
  for (let left = 20; left > 0 && (await settled(sql`select 1`)) !== 'done'; left--) await sleep(50)
  const answers = await Promise.all([1, 2, 3, 4].map(n => settled(sql`select ${n}::integer`)))
  t.same(answers, ['done', 'done', 'done', 'done'])
})

t.test('a session tells that it was lost, and its locks are free', async t => {
  const { sql } = await database(t)
  let told = 0
  const session = openSession(sql, () => {
    told += 1
  })
  const take = (on: typeof sql) => on`select pg_try_advisory_lock(7) as taken`
  const [mine] = await session.sql`select pg_backend_pid() as pid, pg_try_advisory_lock(7) as taken`
  t.equal(mine!.taken, true)
  t.equal(session.losses(), 0)
  const other = openSession(sql)
  t.same([...(await take(other.sql))], [{ taken: false }])
  await sql`select pg_terminate_backend(${mine!.pid})`
  for (let left = 100; told === 0 && left > 0; left--) await sleep(20)
  t.equal(told, 1)
  t.equal(session.losses(), 1)
  t.same([...(await take(other.sql))], [{ taken: true }])
  await session.close()
  await other.close()
  t.equal(told, 1, 'closing it is no loss')
})
