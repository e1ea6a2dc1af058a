// Reading on several devices against a plain model: the result does not depend on the order of arrival, and
// replays change nothing.
import { test } from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { readingFaults } from '../../lib/reading/rebuild.ts'
import { combineSittings } from '../../lib/reading/retention.ts'
import { insertAccount } from '../kit/accounts.ts'
import { createDatabase } from '../kit/db.ts'
import { createRandom } from '../kit/random.ts'
import { insertBooks } from '../kit/reading.ts'
import { expectedReading, expectedTotals, randomReading } from '../kit/reading-model.ts'
import { replay, storedReading, storedStatistics, storedTotals } from '../kit/reading-replay.ts'

/** The last two found sessions without a position and late restarts. */
const readings = [
  ...[1, 2].map(seed => ({ seed, count: 60 })),
  { seed: 23, count: 40 },
  { seed: 444, count: 40 },
]

test('old sittings are combined without a change of totals, passes and positions', async t => {
  const { sql } = await createDatabase(t)
  const { books } = await insertBooks(sql, Array<number>(8).fill(100))
  const viewer = unrestrictedViewer((await insertAccount(sql, 'reader')).id)
  const random = createRandom(5)
  await replay(sql, viewer, random, randomReading(random, books, 80))
  const state = async () => ({
    // Combined sittings are of no device any more.
    statistics: { ...(await storedStatistics(sql, viewer.accountId)), devices: [] },
    progress: await sql`select * from progress order by book_id`,
    passes: await sql`
      select book_id, started_at, completed_at from reading_pass order by book_id, completed_at`,
  })
  const sittings = async () => {
    const [row] = await sql`
      select count(*)::integer as n, count(device)::integer as with_device from reading_session
      where kind in ('progress', 'completed') and restarted_at = '{}' and completed_at = '{}'`
    return row as { n: number; with_device: number }
  }
  const before = await state()
  const all = await sittings()
  t.equal(await combineSittings(sql, new Date(0)), 0, 'none are old')
  const combined = await combineSittings(sql, new Date('2100-01-01'))
  t.ok(combined > 10, `${combined} of ${all.n}`)
  t.ok((await sittings()).n < all.n)
  t.same(await state(), before)
  for await (const faults of readingFaults(sql)) t.same(faults, [], 'as the doctor expects')
  t.equal(await combineSittings(sql, new Date('2100-01-01')), 0, 'they are combined once')
  await replay(sql, viewer, random, randomReading(random, books, 30))
  for await (const faults of readingFaults(sql)) t.same(faults, [], 'also after more reading')
})

test('position, history and statistics do not depend on the order of arrival', async t => {
  const { sql } = await createDatabase(t)
  const { books } = await insertBooks(sql, Array<number>(30).fill(100))
  for (const { seed, count } of readings) {
    const random = createRandom(seed)
    const writes = randomReading(random, books, count)
    const expected = expectedReading(writes)
    const viewer = unrestrictedViewer((await insertAccount(sql, 'reader')).id)
    const again = random.shuffled(writes).slice(0, count / 4)
    await replay(sql, viewer, random, [...random.shuffled(writes), ...again])
    t.same(await storedReading(sql, viewer.accountId), expected, `seed ${seed}`)
    t.same(await storedTotals(sql, viewer.accountId), expectedTotals(writes), `statistics, ${seed}`)
    for await (const faults of readingFaults(sql)) t.same(faults, [], 'as the doctor expects')
  }
})
