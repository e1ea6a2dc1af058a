// Rate limits shared by several processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { createTokenBuckets, deleteFullBuckets } from '../../../lib/http/limits/token-buckets.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { stopRefill } from '../../kit/http/rate-limit.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const log = { warn: () => {} }
/** The database of a busy machine may be slow. */
const patient = { databaseTimeoutMs: 60_000 }

test('three processes grant no more than one bucket', async t => {
  const { sql, url } = await createDatabase(t)
  const pools = [sql, connect(url, { max: 4 }), connect(url, { max: 4 })]
  t.teardown(() => Promise.all(pools.slice(1).map(pool => pool.end({ timeout: 1 }))))
  const all = pools.map(pool => createTokenBuckets(pool, log, patient))
  const bucket = { key: 'account:a', perSecond: 30, burst: 200, share: 25 }
  const startTime = Date.now()
  let input = 0
  let denied = 0
  // Tokens that did not fit into the bucket while the machine paused.
  let lost = 0
  let last = startTime
  // Until there were clearly more requests than tokens.
  const isOver = (ms: number) => (ms > 1_000 && denied > input) || ms > 60_000
  while (!isOver(Date.now() - startTime)) {
    const standings = await Promise.all(
      all.flatMap(buckets => Array.from({ length: 40 }, () => buckets.take(bucket))),
    )
    lost += Math.max(0, ((Date.now() - last) / 1000) * bucket.perSecond - bucket.burst)
    last = Date.now()
    input += standings.filter(s => s.waitMs === 0).length
    denied += standings.filter(s => s.waitMs > 0).length
    await sleep(5)
  }
  const seconds = (Date.now() - startTime) / 1000
  t.ok(input <= 200 + 30 * seconds, `${input} in ${seconds} s`)
  t.ok(input >= 200 + 30 * seconds * 0.7 - lost, `${input} in ${seconds} s`)
  t.ok(denied > input)
})

test('a client below its limit is never denied, across processes', async t => {
  const { sql, url } = await createDatabase(t)
  const other = connect(url, { max: 4 })
  t.teardown(() => other.end({ timeout: 1 }))
  const all = [sql, other].map(pool => createTokenBuckets(pool, log, patient))
  const bucket = { key: 'account:b', perSecond: 50, burst: 40, share: 5 }
  for (let i = 0; i < 60; i++) {
    t.equal((await all[i % 2]!.take(bucket)).waitMs, 0)
    // At least: a pause of the machine is not made up for.
    await sleep(25)
  }
})

test('most requests and denials need no database statement', async t => {
  const { sql } = await createDatabase(t)
  let statements = 0
  const counted = new Proxy(sql, {
    apply: (target, self, input) => {
      statements += 1
      return Reflect.apply(target, self, input)
    },
  })
  // Time stands still: reservations do not expire, and no token is added.
  const buckets = createTokenBuckets(counted, log, { ...patient, clock: () => 0 })
  const bucket = { key: 'ip:1', perSecond: 0.01, burst: 80, share: 10 }
  const states = await Promise.all(Array.from({ length: 80 }, () => buckets.take(bucket)))
  t.ok(states.every(s => s.waitMs === 0))
  t.ok(statements <= 9, `${statements} statements for 80 requests`)
  await buckets.take(bucket)
  const before = statements
  for (let i = 0; i < 1_000; i++) t.ok((await buckets.take(bucket)).waitMs > 0)
  t.ok(statements - before <= 3, `${statements - before} statements for 1000 denials`)
  const login = { key: 'login:1', perSecond: 0.05, burst: 1, share: 1 }
  t.equal((await buckets.take(login)).waitMs, 0)
  const next = await buckets.take(login)
  t.ok(next.waitMs > 10_000 && next.waitMs <= 20_000, 'the waiting time is returned')
  const [row] = await sql`select count(*)::integer as count from rate_bucket`
  t.equal(row!.count, 2)
  await deleteFullBuckets(sql, 60)
  await sql`update rate_bucket set updated_at = updated_at - interval '2 minutes' where key = 'ip:1'`
  await deleteFullBuckets(sql, 60)
  t.same(await sql`select key from rate_bucket`, [{ key: 'login:1' }])
})

test('without the database each process counts locally', async t => {
  const { sql } = await createDatabase(t)
  const warnings: unknown[] = []
  const buckets = createTokenBuckets(
    sql,
    {
      warn: (...input: unknown[]) => warnings.push(input),
    } as never,
    { databaseTimeoutMs: 100, clock: () => 0 },
  )
  const bucket = { key: 'ip:2', perSecond: 0.01, burst: 5, share: 1 }
  await sql.begin(async tx => {
    await tx`lock table rate_bucket in access exclusive mode`
    const states = []
    for (let i = 0; i < 8; i++) states.push(await buckets.take(bucket))
    t.same(
      states.map(s => s.waitMs === 0),
      [true, true, true, true, true, false, false, false],
    )
    t.equal(warnings.length, 1, 'only the first request waits')
  })
})

test('two servers on one database share the limits', async t => {
  const all = await startApiWithoutPipeline(t, {
    'rate_limit.enabled': true,
    'rate_limit.authenticated_rps': 1,
    'rate_limit.authenticated_burst': 40,
    'rate_limit.login_per_minute': 1,
    'rate_limit.login_burst': 4,
  })
  const other = await all.startAnother()
  await stopRefill(all.sql)
  const { key } = await all.createUser('reader')
  const headers = { 'x-api-key': key }
  const first = await fetch(`${all.base}/api/v1/auth/me`, { headers })
  t.equal(first.headers.get('x-ratelimit-limit'), '40')
  t.equal(first.headers.get('x-ratelimit-remaining'), '39')
  t.equal(first.headers.get('x-ratelimit-reset'), '0')
  // A few cheap ones at once: a server that waits long for the database counts alone.
  const responses: Response[] = []
  for (let i = 0; i < 8; i++) {
    const round = Array.from({ length: 10 }, (_, n) =>
      fetch(`${n % 2 ? all.base : other.base}/api/v1/auth/me`, { headers }),
    )
    responses.push(...(await Promise.all(round)))
  }
  const good = responses.filter(a => a.status === 200).length
  t.ok(good <= 39, `${good} of 80`)
  t.ok(good >= 30, `${good} of 80`)
  const denied = responses.find(a => a.status === 429)!
  t.equal(denied.headers.get('x-ratelimit-remaining'), '0')
  t.ok(Number(denied.headers.get('retry-after')) >= 1)
  t.equal(denied.headers.get('x-ratelimit-reset'), denied.headers.get('retry-after'))

  const attempts = []
  for (let i = 0; i < 8; i++) {
    const response = await fetch(`${i % 2 ? all.base : other.base}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: `unknown-${i}`, password: 'wrong' }),
    })
    attempts.push(response.status)
  }
  t.ok(attempts.filter(status => status === 401).length <= 5, String(attempts))
  t.equal(attempts.at(-1), 429)
})
