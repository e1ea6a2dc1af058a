// Reading on several devices against a plain model: the result does not depend on the order of arrival, and
// replays change nothing.
import { test } from 'tap'
import { unrestrictedViewer } from '../../../lib/auth/viewer.ts'
import { readingFaults } from '../../../lib/catalog/reading/rebuild.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'
import { createRandom } from '../../kit/random.ts'
import { insertBooks } from '../../kit/reading.ts'
import { expectedReading, expectedTotals, randomReading } from '../../kit/reading-model.ts'
import { replay, storedReading, storedTotals } from '../../kit/reading-replay.ts'

/** The last two found sessions without a position and late restarts. */
const readings = [
  ...[1, 2, 3, 4, 5, 6].map(seed => ({ seed, count: 60 })),
  { seed: 23, count: 40 },
  { seed: 444, count: 40 },
]

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
