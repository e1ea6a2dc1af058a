// Cancelled statements: the connection is free at once, and later results are whole.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { Unavailable } from '../../../lib/base/errors.ts'
import { cancellable } from '../../../lib/store/postgres/cancellable.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'

test('statements of a request end when its client disconnects', async t => {
  const { sql, url } = await createDatabase(t)
  const pool = connect(url, { max: 1 })
  t.teardown(() => pool.end({ timeout: 1 }))
  const client = new AbortController()
  const request = cancellable(pool, { signal: client.signal, control: sql })
  t.same([...(await request.sql`select ${1}::integer as n`)], [{ n: 1 }])

  const slow = request.sql`select pg_sleep(600)`
  const outcome = slow.then(
    () => 'completed',
    (error: { code: string }) => error.code,
  )
  while ((await running(sql)) === 0) await sleep(5)
  client.abort()
  t.equal(await outcome, '57014')
  await request.finished()
  t.equal(await running(sql), 0)
  t.throws(() => request.sql`select 1`, Unavailable, 'no further statements')
  t.same([...(await pool`select 2 as n`)], [{ n: 2 }], 'the connection is free')
})

test('a statement that fails after its first rows leaves nothing for the next one', async t => {
  const { url } = await createDatabase(t)
  const pool = connect(url, { max: 1 })
  t.teardown(() => pool.end({ timeout: 1 }))
  for (const limit of [1, 3, 500]) {
    await t.rejects(pool`select 1 / (${limit} - i) from generate_series(0, 1000) i`, {
      code: '22012',
    })
    t.same([...(await pool`select 7 as n`)], [{ n: 7 }], `after ${limit} rows`)
  }
})

async function running(sql: ReturnType<typeof connect>): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`
  return row!.count
}
