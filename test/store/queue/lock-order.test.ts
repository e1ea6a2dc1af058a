// Lock order of statements about several jobs: heartbeats, ends, cancellations and postponements at once.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import {
  type ClaimedJob,
  complete,
  fail,
  heartbeat,
  release,
  start,
} from '../../../lib/store/queue/complete.ts'
import { openQueue } from '../../../lib/store/queue/queue.ts'
import { createDatabase } from '../../kit/db.ts'
import { createRandom } from '../../kit/random.ts'

const rounds = 15
const jobsPerRound = 200

t.test('statements about the same jobs never deadlock', async t => {
  const { sql } = await createDatabase(t)
  const queue = await openQueue(sql, error => t.fail(error.message))
  t.teardown(() => queue.close())
  const random = createRandom(7)
  const shuffled = <T>(list: readonly T[]) =>
    list
      .map(value => ({ value, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value)
  const libraryId = newId()
  const statements: ((jobs: ClaimedJob[]) => Promise<unknown>)[] = [
    jobs => heartbeat(sql, jobs),
    jobs => heartbeat(sql, jobs),
    jobs => complete(sql, jobs),
    jobs => release(sql, jobs),
    jobs => fail(sql, jobs, { reason: 'none' }),
    jobs => start(sql, jobs),
    () => queue.postpone('cover', libraryId, 0),
    () => sql.begin(tx => queue.reassignToScan(tx, libraryId, newId())),
  ]
  for (let round = 0; round < rounds; round++) {
    const scanId = newId()
    const payloads = Array.from({ length: jobsPerRound }, () => ({ scanId, libraryId, ids: [] }))
    await sql.begin(tx => queue.send(tx, 'cover', payloads))
    const claimed = await queue.claim('cover', jobsPerRound)
    // Neither the order of a list nor the order of rows on disk may matter.
    await Promise.all(shuffled(statements).map(statement => statement(shuffled(claimed))))
    await sql.begin(tx => queue.deleteWaiting(tx, 'cover', libraryId))
  }
  // The statistics of a backend are published when it is idle for a second; a deadlock is an error above.
  t.pass(`${rounds} rounds of ${statements.length} statements`)
})
