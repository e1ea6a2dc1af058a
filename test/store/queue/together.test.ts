// Concurrent start of several processes on one queue.
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { openQueue } from '../../../lib/store/queue/queue.ts'
import { createDatabase } from '../../kit/db.ts'

t.test('processes can start at the same time on an empty database', async t => {
  for (let round = 0; round < 3; round++) {
    const { sql, url } = await createDatabase(t)
    const queues = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const own = connect(url, { max: 4 })
        t.teardown(() => own.end({ timeout: 1 }))
        return await openQueue(own, error => t.fail(error.message))
      }),
    )
    await queues[0]!.send(sql, 'maintenance', [{}])
    t.equal((await queues[3]!.claim('maintenance')).length, 1)
    const [stuck] = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`
    t.notOk(stuck)
    await Promise.all(queues.map(queue => queue.close()))
  }
})
