// Cached and time-limited database queries of metrics.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { test } from 'tap'
import {
  cachedQuery,
  timeLimitedQuery,
  withTimeout,
} from '../../../lib/store/metrics/cached-query.ts'

const sql = (() => {}) as unknown as Sql

test('the first call waits, later ones get the cached result during a refresh', async t => {
  const loads: ((result: number) => void)[] = []
  const count = cachedQuery(() => new Promise<number>(resolve => loads.push(resolve)), {
    minAgeMs: 10,
    waitMs: 60_000,
  })(sql)
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    while (!(await isTrue())) await sleep(1)
  }
  const first = count()
  await until(() => loads.length === 1)
  loads[0]!(1)
  t.equal(await first, 1)
  await until(async () => {
    t.equal(await count(), 1, 'the expired result, without waiting')
    return loads.length === 2
  })
  loads[1]!(2)
  await until(async () => (await count()) === 2)
})

test('the result of a slow query is cached longer', async t => {
  let loads = 0
  const slowQuery = cachedQuery(async () => {
    loads += 1
    await sleep(200)
    return true
  })(sql)
  await slowQuery()
  await sleep(500)
  await slowQuery()
  t.equal(loads, 1)
})

test('a failed or too slow query returns null', async t => {
  t.equal(await cachedQuery(() => Promise.reject(new Error('away')))(sql)(), null)
  const slowQuery = cachedQuery(() => sleep(200).then(() => 7), { waitMs: 20 })(sql)
  t.equal(await slowQuery(), null)
  await sleep(250)
  t.equal(await slowQuery(), 7)
  t.equal(await withTimeout(sleep(100), 10), null)
  t.equal(await withTimeout(Promise.resolve(3), 10), 3)
})

test('a query that is still running is not started a second time', async t => {
  let queries = 0
  let respond = (_: number) => {}
  const query = timeLimitedQuery(() => {
    queries += 1
    return new Promise<number>(resolve => {
      respond = resolve
    })
  }, 20)(sql)
  t.equal(await query(), null)
  t.equal(await query(), null)
  t.equal(queries, 1)
  const late = query()
  respond(5)
  t.equal(await late, 5)
  const next = query()
  respond(6)
  t.equal(await next, 6)
  t.equal(queries, 2)
})
