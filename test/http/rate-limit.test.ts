// Rate limits shared by several processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { createTokenBuckets, deleteFullBuckets } from '../../lib/http/token-buckets.ts'
import { connect } from '../../lib/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'

const log = { warn: () => {} }

test('three processes grant no more than one bucket', async t => {
  const { sql, url } = await createDatabase(t)
  const pools = [sql, connect(url, { max: 4 }), connect(url, { max: 4 })]
  t.teardown(() => Promise.all(pools.slice(1).map(pool => pool.end({ timeout: 1 }))))
  const all = pools.map(pool => createTokenBuckets(pool, log))
  const bucket = { key: 'account:a', perSecond: 50, burst: 200, share: 25 }
  const startTime = Date.now()
  let input = 0
  let denied = 0
  // Until there were clearly more requests than tokens.
  const isOver = (ms: number) => (ms > 2_000 && denied > input) || ms > 60_000
  while (!isOver(Date.now() - startTime)) {
    const standings = await Promise.all(
      all.flatMap(buckets => Array.from({ length: 10 }, () => buckets.take(bucket))),
    )
    input += standings.filter(s => s.waitMs === 0).length
    denied += standings.filter(s => s.waitMs > 0).length
    await sleep(5)
  }
  const seconds = (Date.now() - startTime) / 1000
  t.ok(input <= 200 + 50 * seconds, `${input} in ${seconds} s`)
  t.ok(input >= 200 + 50 * seconds * 0.7, `${input} in ${seconds} s`)
  t.ok(denied > input)
})

test('a client below its limit is never denied, across processes', async t => {
  const { sql, url } = await createDatabase(t)
  const other = connect(url, { max: 4 })
  t.teardown(() => other.end({ timeout: 1 }))
  const all = [createTokenBuckets(sql, log), createTokenBuckets(other, log)]
  const bucket = { key: 'account:b', perSecond: 50, burst: 40, share: 5 }
  for (let i = 0; i < 120; i++) {
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
  const buckets = createTokenBuckets(counted, log)
  // The rate is so low that no token is added during the test.
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
  const buckets = createTokenBuckets(sql, {
    warn: (...input: unknown[]) => warnings.push(input),
  } as never)
  const bucket = { key: 'ip:2', perSecond: 0.01, burst: 5, share: 1 }
  await sql.begin(async tx => {
    await tx`lock table rate_bucket in access exclusive mode`
    const startTime = Date.now()
    const states = []
    for (let i = 0; i < 8; i++) states.push(await buckets.take(bucket))
    t.ok(Date.now() - startTime < 5_000, 'only the first request waits')
    t.same(
      states.map(s => s.waitMs === 0),
      [true, true, true, true, true, false, false, false],
    )
    t.equal(warnings.length, 1)
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
  const { key } = await all.createUser('reader')
  const headers = { 'x-api-key': key }
  const startTime = Date.now()
  const first = await fetch(`${all.base}/api/v1/books`, { headers })
  t.equal(first.headers.get('x-ratelimit-limit'), '40')
  t.equal(first.headers.get('x-ratelimit-remaining'), '39')
  t.equal(first.headers.get('x-ratelimit-reset'), '0')
  const responses = await Promise.all(
    Array.from({ length: 80 }, (_, i) =>
      fetch(`${i % 2 ? all.base : other.base}/api/v1/books`, { headers }),
    ),
  )
  const good = responses.filter(a => a.status === 200).length
  t.ok(good <= 39 + (Date.now() - startTime) / 1000, `${good} of 80`)
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
