// Connections that stay open and never respond, as after a loss in the network: they are given up.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { connectionsLike, type Sql } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'

const responseTimeoutMs = 400
const closed = { code: 'CONNECTION_CLOSED' }

async function poolOf(t: Test) {
  const { sql: other } = await createDatabase(t)
  const sql = connectionsLike(other, { max: 1, connection: {}, responseTimeoutMs })
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql
}

/** Suspends the process of PostgreSQL behind the connection, until the end of the test. */
async function suspend(t: Test, sql: Sql) {
  const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => process.kill(pid, 'SIGCONT'))
}

t.test('statements of a silent connection fail, later ones run on another', async t => {
  const sql = await poolOf(t)
  await suspend(t, sql)
  const began = performance.now()
  const outcomes = await Promise.allSettled([sql`select 1`, sql`select ${2}::int`, sql`select 3`])
  t.ok(performance.now() - began < 4 * responseTimeoutMs + 1_000)
  const [first, second, waiting] = outcomes
  t.match(first, { status: 'rejected', reason: closed })
  t.match(second, { status: 'rejected', reason: closed })
  t.match(waiting, { status: 'fulfilled' }, 'what was not sent yet')
  t.same([...(await sql`select 4 as n`)], [{ n: 4 }])
})

t.test('a connection that has been idle for long is not given up', async t => {
  const sql = await poolOf(t)
  const [before] = await sql`select pg_backend_pid() as pid`
  await sleep(2 * responseTimeoutMs)
  for (let n = 0; n < 2; n++)
    await sql`select pg_sleep(${(0.4 * responseTimeoutMs + 1_000) / 1000})`
  await Promise.all(
    [1, 2].map(() => sql`select pg_sleep(${(0.4 * responseTimeoutMs + 1_000) / 1000})`),
  )
  const [after] = await sql`select pg_backend_pid() as pid`
  t.equal(after!.pid, before!.pid)
})

t.test('a response that came while this process was busy is read', async t => {
  const sql = await poolOf(t)
  await sql`select 1`
  const answer = sql`select 5 as n, pg_sleep(0.1)::text as slept`
  answer.catch(() => {})
  await sleep(1)
  const end = performance.now() + 2 * responseTimeoutMs
  while (performance.now() < end);
  t.same([...(await answer)], [{ n: 5, slept: '' }])
})

t.test('a statement that follows a response that came meanwhile runs', async t => {
  const sql = await poolOf(t)
  await sql`select 1`
  for (let round = 0; round < 2; round++) {
    const both = (async () => {
      await sql`select pg_sleep(0.1)`
      return await sql`select 6 as n`
    })()
    both.catch(() => {})
    await sleep(20)
    await setImmediate()
    const end = performance.now() + 2 * responseTimeoutMs
    while (performance.now() < end);
    t.same([...(await both)], [{ n: 6 }])
  }
})

t.test('a reader of a cursor may take its time', async t => {
  const sql = await poolOf(t)
  let rows = 0
  for await (const part of sql`select generate_series(1, 20)`.cursor(10)) {
    rows += part.length
    await sleep(1.4 * responseTimeoutMs + 1_000)
  }
  t.equal(rows, 20)
})
