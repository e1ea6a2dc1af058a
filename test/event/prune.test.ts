// Events are kept for their time and in their number, and it is known which are gone.
import { test } from 'tap'
import { bounds, rowsAfter } from '../../lib/event/event-rows.ts'
import { pruneEvents } from '../../lib/event/prune.ts'
import { tell } from '../../lib/event/publish.ts'
import { newId } from '../../lib/id.ts'
import { database } from '../kit/db.ts'

const libraryId = newId()
const some = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'library_updated' as const, libraryId }))

test('events that are older than the setting says are deleted', async t => {
  const { sql } = await database(t)
  await tell(sql, some(4_500))
  await pruneEvents(sql)
  t.same(await bounds(sql), { pruned: 0, tail: 4_500, ever: 4_500 }, 'the young stay')
  await sql`update event set at = at - interval '89 minutes' where number <= 4_400`
  await sql`update event set at = at - interval '91 minutes' where number <= 4_300`
  await pruneEvents(sql)
  t.same(await bounds(sql), { pruned: 4_300, tail: 4_500, ever: 4_500 })
  t.match(await rowsAfter(sql, 4_299), { isLost: true })
  const page = await rowsAfter(sql, 4_300)
  t.equal(page.isLost, false)
  t.equal(page.rows[0]!.number, 4_301)

  await sql`insert into setting (key, value) values ('events.retention_minutes', '60')`
  await pruneEvents(sql)
  t.match(await bounds(sql), { pruned: 4_400 }, 'the setting counts as it is now')
  await sql`update event set at = at - interval '2 hours'`
  await pruneEvents(sql)
  t.same(
    await bounds(sql),
    { pruned: 4_500, tail: 4_500, ever: 4_500 },
    'an empty table has an end',
  )
  t.match(await rowsAfter(sql, 4_500), { rows: [], upTo: 4_500, isLost: false })
  await tell(sql, some(1))
  t.match(await rowsAfter(sql, 4_500), { rows: [{ number: 4_501 }], isLost: false })
})

test('of too many events the oldest are deleted, whatever their age', async t => {
  const { sql } = await database(t)
  const series = Array.from({ length: 2_000 }, newId)
  await tell(sql, [{ type: 'series_created', libraryId, series }, ...some(10)])
  await pruneEvents(sql, { keep: 1_200 })
  t.same(await bounds(sql), { pruned: 500, tail: 2_010, ever: 2_010 })
  await pruneEvents(sql, { keep: 5 })
  t.match(await bounds(sql), { pruned: 2_005 })
})

test('one process prunes at a time', async t => {
  const { sql } = await database(t)
  await tell(sql, some(10))
  await sql`update event set at = at - interval '1 day'`
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.event.prune'))`
    await pruneEvents(sql)
    t.match(await bounds(sql), { pruned: 0 }, 'the other one is at it')
  })
  await Promise.all([pruneEvents(sql), pruneEvents(sql), pruneEvents(sql)])
  t.match(await bounds(sql), { pruned: 10 })
})
