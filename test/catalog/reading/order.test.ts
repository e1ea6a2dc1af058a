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

const interleavings = 8

test('position, history and statistics do not depend on the order of arrival', async t => {
  const { sql } = await createDatabase(t)
  const { books } = await insertBooks(sql, Array<number>(30).fill(100))
  for (let seed = 1; seed <= interleavings; seed++) {
    const random = createRandom(seed)
    const writes = randomReading(random, books, 60)
    const expected = expectedReading(writes)
    const viewer = unrestrictedViewer((await insertAccount(sql, 'reader')).id)
    const again = random.shuffled(writes).slice(0, 15)
    await replay(sql, viewer, random, [...random.shuffled(writes), ...again])
    t.same(await storedReading(sql, viewer.accountId), expected, `seed ${seed}`)
    t.same(await storedTotals(sql, viewer.accountId), expectedTotals(writes), `statistics, ${seed}`)
    for await (const faults of readingFaults(sql)) t.same(faults, [], 'as the doctor expects')
  }
})
