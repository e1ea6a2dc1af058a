// The nightly clearing takes what nobody needs any more, and nothing else.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLog } from '../../../lib/log.ts'
import { upkeep } from '../../../pipeline/work/maintenance.ts'
import { catalogue, checkedBy, comic, reader, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql, config, pipeline } = all
const lines: string[] = []
const log = openLog({ level: 'info' }, { write: line => void lines.push(line) })
const never = () => false
const test = checkedBy(t, all)

test('sessions and slots that are over go', async t => {
  const { id } = await reader(sql)
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
  await upkeep({ sql, config, log }, never)
  t.equal((await sql`select 1 from session`).length, 2)
  t.equal((await sql`select 1 from schedule_slot`).length, 2880)
  t.match(JSON.parse(lines.at(-1)!), { msg: 'upkeep done', sessions: 2, slots: 2121 })
})

test('old scans go, but not the last of a library nor one whose work goes on', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic() })
  const ids = []
  for (let i = 0; i < 4; i++) ids.push((await shelf.scan()).id)
  const other = await shelve(t, all, {})
  const only = (await other.scan()).id
  await sql`
    update scan set created_at = created_at - interval '8 days', finished_at = finished_at - interval '8 days'
    where id = any(${[...ids, only]}::uuid[])`
  await sql`
    insert into pgboss.job (name, data, start_after)
    values ('cover', ${sql.json({ scanId: ids[1]!, libraryId: shelf.id, ids: [] })}, now() + interval '1 day')`
  await upkeep({ sql, config, log }, never)
  const left = (await sql<{ id: string }[]>`select id from scan`).map(row => row.id)
  t.same(left.sort(), [ids[1]!, ids[3]!, only].sort())
  await sql`delete from pgboss.job where name = 'cover'`
})

const past = () => sql`select 1 from schedule_slot where job = 'past'`

test('told to stop it does no more, and can begin again', async t => {
  await sql`insert into schedule_slot (job, slot) values ('past', now() - interval '3 days')`
  await upkeep({ sql, config, log }, () => true)
  t.equal((await past()).length, 1)
})

test('it is a job like any other', async t => {
  await pipeline.queue.send(sql, 'upkeep', [{}], { key: 'all' })
  for (let left = 2000; left > 0; left--) {
    if ((await past()).length === 0) break
    await sleep(25)
  }
  t.equal((await past()).length, 0)
})
