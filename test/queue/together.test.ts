// The queue of several processes that start together.
import t from 'tap'
import { connect } from '../../lib/postgres/db.ts'
import { openQueue } from '../../lib/queue/queue.ts'
import { database } from '../kit/db.ts'

t.test('processes that start together on an empty database do not disturb each other', async t => {
  for (let round = 0; round < 3; round++) {
    const { sql, url } = await database(t)
    const queues = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const own = connect(url, { max: 4 })
        t.teardown(() => own.end({ timeout: 1 }))
        return await openQueue(own, error => t.fail(error.message))
      }),
    )
    await queues[0]!.send(sql, 'upkeep', [{}])
    t.equal((await queues[3]!.take('upkeep')).length, 1)
    const [stuck] = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`
    t.notOk(stuck)
    await Promise.all(queues.map(queue => queue.close()))
  }
})
