// Admission of lists: one account cannot take the connections of the others, and what a client no longer
// waits for ends in the database.
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import type { Viewer } from '../../../lib/accounts/viewer.ts'
import { RateLimited, Unavailable } from '../../../lib/base/errors.ts'
import type { Deps } from '../../../lib/http/deps.ts'
import { admitted, openListGate } from '../../../lib/http/limits/list-gate.ts'
import type { Route } from '../../../lib/http/route.ts'
import { listCost } from '../../../lib/list/routes/list-routes.ts'
import { connectionsLike, type Sql } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const words = Array.from({ length: 490 }, (_, i) => `word${i}`)
const condition = { anyOf: words.map(value => ({ summary: { operator: 'contains', value } })) }

test('expensive lists run one at a time for an account, three in the process', async t => {
  const { sql } = await createDatabase(t)
  const gate = openListGate(sql)
  t.teardown(gate.close)
  const started: string[] = []
  const run = (accountId: string, signal = new AbortController().signal, isExpensive = true) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const result = gate.run({ accountId, isExpensive, signal }, async () => {
      started.push(accountId)
      await promise
    })
    return { result, finish: resolve }
  }
  const first = run('a')
  const leaving = new AbortController()
  const others = [run('a', leaving.signal), ...Array.from({ length: 9 }, () => run('a'))]
  await t.rejects(run('a').result, RateLimited, 'ten wait at most')
  const [b, c, d] = [run('b'), run('c'), run('d')]
  const cheap = run('a', undefined, false)
  await sleep(0)
  t.same(started.toSorted(), ['a', 'a', 'b', 'c'])
  leaving.abort()
  await t.rejects(others[0]!.result, Unavailable, 'a client that left does not wait')
  first.finish()
  await first.result
  await sleep(0)
  t.same(started.slice(4), ['d'], 'of all that wait the first')
  for (const one of [b, c, d, cheap, ...others.slice(1)]) one.finish()
  await Promise.all([b, c, d, cheap, ...others.slice(1)].map(one => one.result))
  t.equal(started.filter(name => name === 'a').length, 11)
})

test('normal lists of an account take at most half of the connections', async t => {
  const { sql } = await createDatabase(t)
  for (const [max, expected] of [
    [1, 1],
    [10, 2],
    [40, 10],
  ] as const) {
    const gate = openListGate(connectionsLike(sql, { max, connection: {} }))
    const { promise, resolve } = Promise.withResolvers<void>()
    let started = 0
    const signal = new AbortController().signal
    const runs = Array.from({ length: 15 }, () =>
      gate.run({ accountId: 'a', isExpensive: false, signal }, async () => {
        started++
        await promise
      }),
    )
    await sleep(0)
    t.equal(started, expected, `of ${max}`)
    resolve()
    await Promise.all(runs)
    await gate.close()
  }
})

test('a streamed answer takes the place of a list until it is read', async t => {
  const { sql } = await createDatabase(t)
  const gate = openListGate(connectionsLike(sql, { max: 4, connection: {} }))
  t.teardown(gate.close)
  const bodies: Readable[] = []
  const streamed = {
    ...{ method: 'GET', path: '/streamed', permission: 'auth', cost: 'list' },
    handle: () => bodies.push(new Readable({ read() {} })) && bodies.at(-1),
  } as unknown as Route
  const handle = admitted(streamed, {} as Deps, gate)
  const { signal } = new AbortController()
  const request = () => handle({ viewer: { accountId: 'a' } as Viewer, signal })
  const first = await request()
  t.equal(first, bodies[0], 'sent before it is complete')
  const second = request()
  await sleep(0)
  t.equal(bodies.length, 1, 'the next list waits')
  bodies[0]!.push(null)
  await text(bodies[0]!)
  t.equal(await second, bodies[1])
  bodies[1]!.destroy(new Error('the client left'))
  t.equal(await request(), bodies[2], 'also one that fails gives its place back')
  bodies[2]!.destroy()
})

test('a list is expensive by its page or by its condition', async t => {
  const of = (pageSize: number, isFull = false, body: unknown = undefined) =>
    listCost({ pageSize, isFull, body }) === 'expensive'
  t.same([of(50), of(250), of(50, true)], [false, false, false])
  t.same([of(500), of(100, true), of(50, false, { condition })], [true, true, true])
  t.notOk(of(50, false, { condition: { readStatus: { operator: 'is', value: 'unread' } } }))
})

test('lists of one account leave the server responsive, and end with their clients', async t => {
  // An empty index answers without reading a table.
  const all = await startApiWithoutPipeline(t, { 'list.index_mb': 0 })
  const reader = await all.createUser('reader')
  const lock = await all.sql.reserve()
  t.teardown(() => lock.release())
  await lock`begin`
  // No list gets past this point.
  await lock`lock table series in access exclusive mode`
  const clients = new AbortController()
  const requests = Array.from({ length: 15 }, () =>
    fetch(`${all.base}/api/v1/books/list`, {
      method: 'POST',
      headers: { 'x-api-key': reader.key, 'content-type': 'application/json' },
      body: JSON.stringify({ condition }),
      signal: clients.signal,
    }).catch(() => null),
  )
  const refused = await Promise.race([
    Promise.any(
      requests.map(async request => ((await request)?.status === 429 ? request : Promise.reject())),
    ),
    sleep(120_000, null, { ref: false }),
  ])
  t.equal(refused?.status, 429)
  t.equal(refused?.headers.get('retry-after'), '2')
  t.ok((await blocked(all.sql)) <= 1)
  t.equal((await all.anonymous.get('/health')).status, 200)
  clients.abort()
  await Promise.all(requests)
  await waitUntil(async () => (await blocked(all.sql)) === 0)
  t.pass('they end while the table is still locked')
  await lock`rollback`
  t.equal((await reader.get('/books?pageSize=500&full=true')).status, 200)
})

async function blocked(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row!.count
}
