// Event pruning by age and by number; the number of the last deleted event is stored.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { readBounds, readRowsAfter } from '../../../lib/store/event/event-rows.ts'
import { pruneEvents } from '../../../lib/store/event/prune.ts'
import { publish } from '../../../lib/store/event/publish.ts'
import { createDatabase } from '../../kit/db.ts'

const libraryId = newId()
const libraryEvents = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'library_updated' as const, libraryId }))

test('events older than the retention time are deleted', async t => {
  const { sql } = await createDatabase(t)
  await publish(sql, libraryEvents(4_500))
  await pruneEvents(sql)
  t.same(
    await readBounds(sql),
    { pruned: 0, tail: 4_500, lastAssigned: 4_500 },
    'recent events are retained',
  )
  await sql`update event set created_at = created_at - interval '89 minutes' where number <= 4400`
  await sql`update event set created_at = created_at - interval '91 minutes' where number <= 4300`
  await pruneEvents(sql)
  t.same(await readBounds(sql), { pruned: 4_300, tail: 4_500, lastAssigned: 4_500 })
  t.match(await readRowsAfter(sql, 4_299), { isExpired: true })
  const page = await readRowsAfter(sql, 4_300)
  t.equal(page.isExpired, false)
  t.equal(page.rows[0]!.number, 4_301)

  await sql`insert into setting (key, value) values ('events.retention_minutes', '60')`
  await pruneEvents(sql)
  t.match(await readBounds(sql), { pruned: 4_400 }, 'the current value of the setting is used')
  await sql`update event set created_at = created_at - interval '2 hours'`
  await pruneEvents(sql)
  t.same(
    await readBounds(sql),
    { pruned: 4_500, tail: 4_500, lastAssigned: 4_500 },
    'the tail of an empty table',
  )
  t.match(await readRowsAfter(sql, 4_500), { rows: [], upTo: 4_500, isExpired: false })
  await publish(sql, libraryEvents(1))
  t.match(await readRowsAfter(sql, 4_500), { rows: [{ number: 4_501 }], isExpired: false })
})

test('the oldest events beyond the maximum number are deleted at any age', async t => {
  const { sql } = await createDatabase(t)
  const series = Array.from({ length: 2_000 }, newId)
  await publish(sql, [{ type: 'series_created', libraryId, series }, ...libraryEvents(10)])
  await pruneEvents(sql, { maxEvents: 1_200 })
  t.same(await readBounds(sql), { pruned: 500, tail: 2_010, lastAssigned: 2_010 })
  await pruneEvents(sql, { maxEvents: 5 })
  t.match(await readBounds(sql), { pruned: 2_005 })
})

test('one process prunes at a time', async t => {
  const { sql } = await createDatabase(t)
  await publish(sql, libraryEvents(10))
  await sql`update event set created_at = created_at - interval '1 day'`
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.event.prune'))`
    await pruneEvents(sql)
    t.match(await readBounds(sql), { pruned: 0 }, 'another process is pruning')
  })
  await Promise.all([pruneEvents(sql), pruneEvents(sql), pruneEvents(sql)])
  t.match(await readBounds(sql), { pruned: 10 })
})
