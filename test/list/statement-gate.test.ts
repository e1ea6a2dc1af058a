// Lists that are made by statements leave connections of the pool to other requests.
import { test } from 'tap'
import { createStatementGate } from '../../lib/list/lists.ts'
import { connectionsLike } from '../../lib/store/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'

test('at most half of the connections run lists, in the order of the requests', async t => {
  const { sql } = await createDatabase(t)
  const pool = connectionsLike(sql, { max: 4, connection: {} })
  t.teardown(() => pool.end())
  const inTurn = createStatementGate(pool)
  const started: number[] = []
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const lists = ends.map(({ promise }, i) =>
    inTurn(async () => {
      started.push(i)
      await promise
      return i
    }),
  )
  await pool`select`
  t.same(started, [0, 1])
  ends[1]!.resolve()
  t.equal(await lists[1], 1)
  await pool`select`
  t.same(started, [0, 1, 2])
  for (const { resolve } of ends) resolve()
  t.same(await Promise.all(lists), [0, 1, 2, 3])
  await t.rejects(
    inTurn(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
})
