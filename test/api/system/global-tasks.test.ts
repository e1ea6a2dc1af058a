// Tasks that belong to no library: visible only to viewers that nothing is hidden from.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const all = await startApiWithoutPipeline(t)
const { sql } = all

t.test('tasks without a library are for those who see everything', async t => {
  const users = {
    admin: await all.createUser('admin'),
    maintainer: await all.createUser('maintainer'),
    denied: await all.createUser('maintainer'),
    aged: await all.createUser('maintainer'),
    narrow: await all.createUser('maintainer'),
  }
  await hideSeries(sql, users.denied.id, [])
  await sql`update account set age_limit = 12 where id = ${users.aged.id}`
  await sql`update account set all_libraries = false where id = ${users.narrow.id}`
  for (const [name, user] of Object.entries(users)) {
    const id = await all.queue.send(sql, 'dedupe', [{ libraryId: null } as never], { key: newId() })
    t.not(id, null)
    const [job] = await sql<{ id: string }[]>`
      select id from pgboss.job_common where name = 'dedupe' and state = 'created'
      order by id desc limit 1`
    const sees = name === 'admin' || name === 'maintainer'
    const listed = (await user.get('/tasks')).body.data.some((task: any) => task.id === job!.id)
    t.equal(listed, sees, name)
    t.equal((await user.get(`/tasks/${job!.id}`)).status, sees ? 200 : 404, name)
    const stats = (await user.get('/tasks/stats')).body
    t.equal(stats.pending > 0, sees, name)
    t.equal((await user.post(`/tasks/${job!.id}/cancel`)).status, sees ? 200 : 404, name)
    const [state] = await sql`select state from pgboss.job_common where id = ${job!.id}`
    t.equal(state?.state, sees ? 'cancelled' : 'created', name)
    await sql`delete from pgboss.job_common where id = ${job!.id}`
  }
})
