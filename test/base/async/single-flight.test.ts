import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createSingleFlight } from '../../../lib/base/async/single-flight.ts'
import { Unavailable } from '../../../lib/base/errors.ts'

t.test('concurrent calls with the same key share one execution', async t => {
  const flight = createSingleFlight<number>()
  let runs = 0
  const work = async () => {
    await sleep(2)
    return (runs += 1)
  }
  t.same(await Promise.all([flight('a', work), flight('a', work), flight('b', work)]), [1, 1, 2])
  t.equal(await flight('a', work), 3, 'a later call runs again')
})

t.test('an error is shared and not cached; keys may be objects', async t => {
  const key = {}
  const flight = createSingleFlight<string, object>()
  const failing = async () => {
    await sleep(2)
    throw new Error('down')
  }
  const results = await Promise.allSettled([flight(key, failing), flight(key, failing)])
  t.same(
    results.map(result => result.status),
    ['rejected', 'rejected'],
  )
  t.equal(await flight(key, async () => 'up'), 'up')
})

t.test(
  'shared work is aborted when the last caller has left, and restarts for the next',
  async t => {
    const flight = createSingleFlight<string>()
    const [first, second] = [new AbortController(), new AbortController()]
    let received: AbortSignal | null = null
    const work = async (signal: AbortSignal) => {
      received = signal
      await sleep(5)
      return signal.aborted ? 'aborted' : 'done'
    }
    const both = [flight('a', work, first.signal), flight('a', work, second.signal)]
    first.abort()
    t.notOk(received!.aborted, 'one caller still waits')
    second.abort()
    t.ok(received!.aborted)
    const next = flight('a', work)
    t.same(await Promise.all(both), ['aborted', 'aborted'])
    t.equal(await next, 'done')
    await t.rejects(flight('a', work, first.signal), Unavailable)
  },
)
