import t from 'tap'
import { retryOnDeadlock } from '../../../lib/store/postgres/retry-on-deadlock.ts'
import { createDatabase } from '../../kit/db.ts'

const { sql } = await createDatabase(t)

/** Work that fails with an SQLSTATE the first `times` runs, then returns the number of the run. */
function failing(code: string, times: number) {
  let runs = 0
  return async () => {
    runs += 1
    if (runs <= times) throw Object.assign(new Error(code), { code })
    return runs
  }
}

t.test('a deadlock is retried up to three times, other errors are not', async t => {
  t.equal(await retryOnDeadlock(sql, failing('40P01', 3)), 4)
  await t.rejects(retryOnDeadlock(sql, failing('40P01', 4)), { code: '40P01' })
  await t.rejects(retryOnDeadlock(sql, failing('23505', 1)), { code: '23505' })
})
