// Random reading on four devices, sent in random order with replays, against the sequential model.
import { isDeepStrictEqual } from 'node:util'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { createDatabase } from '../../test/kit/db.ts'
import { createRandom } from '../../test/kit/random.ts'
import { insertBooks } from '../../test/kit/reading.ts'
import { expectedReading, expectedTotals, randomReading } from '../../test/kit/reading-model.ts'
import { replay, storedReading, storedTotals } from '../../test/kit/reading-replay.ts'
import { print } from '../kit/stackroom.ts'

export async function compareOrders(firstSeed: number, interleavings: number): Promise<void> {
  const undo: (() => unknown)[] = []
  const { sql } = await createDatabase({ teardown: (work: () => unknown) => void undo.push(work) })
  const { books } = await insertBooks(sql, Array<number>(30).fill(100))
  const different: number[] = []
  let writeCount = 0
  for (let seed = firstSeed; seed < firstSeed + interleavings; seed++) {
    const random = createRandom(seed)
    const writes = randomReading(random, books, 40)
    const { id } = await insertAccount(sql, 'reader')
    const again = random.shuffled(writes).slice(0, 10)
    writeCount += writes.length + again.length
    await replay(sql, unrestrictedViewer(id), random, [...random.shuffled(writes), ...again])
    const isSame =
      isDeepStrictEqual(await storedReading(sql, id), expectedReading(writes)) &&
      isDeepStrictEqual(await storedTotals(sql, id), expectedTotals(writes))
    if (!isSame) different.push(seed)
    await sql`delete from account where id = ${id}`
    if ((seed - firstSeed) % 100 === 99) print({ interleavings: seed - firstSeed + 1, different })
  }
  print({ interleavings, books: books.length, writes: writeCount, different })
  process.exitCode = different.length > 0 ? 1 : 0
  for (const work of undo.reverse()) await work()
}
