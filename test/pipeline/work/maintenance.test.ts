// Nightly maintenance: deleted and retained rows.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { runMaintenance } from '../../../pipeline/work/maintenance.ts'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql, config, pipeline } = all
const lines: string[] = []
const log = openLog({ level: 'info' }, { write: line => void lines.push(line) })
const never = () => false
const test = testWithDoctor(t, all)

test('expired sessions and slots are deleted', async t => {
  const { id } = await createReader(sql)
  await sql`
    insert into session (id, account_id, expires_at, revoked_at)
    select gen_random_uuid(), ${id}, expires_at, revoked_at
    from (values
      (now() + interval '1 hour', null),
      (now() - interval '1 hour', null),
      (now() + interval '1 hour', now() - interval '2 days'),
      (now() + interval '1 hour', now() - interval '1 hour')) as s(expires_at, revoked_at)`
  await sql`
    insert into schedule_slot (job, slot)
    select 'minute', now() - make_interval(mins => m) from generate_series(0, 5000) m`
  await runMaintenance({ sql, config, log }, never)
  t.equal((await sql`select 1 from session`).length, 2)
  t.equal((await sql`select 1 from schedule_slot`).length, 2880)
  t.match(JSON.parse(lines.at(-1)!), { msg: 'maintenance done', sessions: 2, slots: 2121 })
})

test('old scans are deleted, except the last of a library and those with jobs', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const ids = []
  for (let i = 0; i < 4; i++) ids.push((await shelf.scan()).id)
  const other = await createTestLibrary(t, all, {})
  const only = (await other.scan()).id
  await sql`
    update scan set created_at = created_at - interval '8 days', finished_at = finished_at - interval '8 days'
    where id = any(${[...ids, only]}::uuid[])`
  await sql`
    insert into pgboss.job (name, data, start_after)
    values ('cover', ${sql.json({ scanId: ids[1]!, libraryId: shelf.id, ids: [] })}, now() + interval '1 day')`
  await runMaintenance({ sql, config, log }, never)
  const remaining = (await sql<{ id: string }[]>`select id from scan`).map(row => row.id)
  t.same(remaining.sort(), [ids[1]!, ids[3]!, only].sort())
  await sql`delete from pgboss.job where name = 'cover'`
})

const past = () => sql`select 1 from schedule_slot where job = 'past'`

test('it can be stopped and repeated', async t => {
  await sql`insert into schedule_slot (job, slot) values ('past', now() - interval '3 days')`
  await runMaintenance({ sql, config, log }, () => true)
  t.equal((await past()).length, 1)
})

test('it runs as a job', async t => {
  await pipeline.queue.send(sql, 'maintenance', [{}], { key: 'all' })
  for (let left = 2000; left > 0; left--) {
    if ((await past()).length === 0) break
    await sleep(25)
  }
  t.equal((await past()).length, 0)
})
