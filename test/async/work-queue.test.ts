import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openFlights, openLine } from '../../lib/async/work-queue.ts'
import { Unavailable } from '../../lib/errors.ts'

t.test('what is under way is bounded in number and in weight, in the order of arrival', async t => {
  const line = openLine({ slots: 3, weight: 10, waiting: 100 })
  const under: number[] = []
  const order: number[] = []
  let most = { count: 0, weight: 0 }
  const work = (i: number, weighs: number) =>
    line.run(weighs, async () => {
      order.push(i)
      under.push(weighs)
      const weight = under.reduce((sum, one) => sum + one, 0)
      most = { count: Math.max(most.count, under.length), weight: Math.max(most.weight, weight) }
      await sleep(2)
      under.splice(under.indexOf(weighs), 1)
    })
  await Promise.all([1, 1, 1, 1, 6, 6, 1, 3, 25, 1].map((weighs, i) => work(i, weighs)))
  t.equal(most.count, 3)
  t.equal(most.weight, 25, 'the heavy one went alone')
  t.same(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

t.test('a full line turns away with 503, and a failure gives its place free', async t => {
  const line = openLine({ slots: 1, weight: 10, waiting: 1 })
  const failing = line.run(1, async () => {
    await sleep(5)
    throw new Error('no')
  })
  const second = line.run(1, async () => 'done')
  await t.rejects(
    line.run(1, async () => 'never'),
    Unavailable,
  )
  await t.rejects(failing, /no/)
  t.equal(await second, 'done')
})

t.test('the same work is done once for all that ask at once, and again later', async t => {
  const flight = openFlights<number>()
  let runs = 0
  const work = async () => {
    await sleep(2)
    return (runs += 1)
  }
  t.same(await Promise.all([flight('a', work), flight('a', work), flight('b', work)]), [1, 1, 2])
  t.equal(await flight('a', work), 3)
})

t.test('who leaves the line gives the place free; what was begun goes on', async t => {
  const line = openLine({ slots: 1, weight: 10, waiting: 2 })
  const ran: number[] = []
  const gone = [1, 2, 3].map(() => new AbortController())
  const work = (i: number) =>
    line.run(
      1,
      async () => {
        ran.push(i)
        await sleep(5)
      },
      gone[i]?.signal,
    )
  const all = Promise.allSettled([work(0), work(1), work(2)])
  gone[0]!.abort()
  gone[1]!.abort()
  const last = work(3)
  t.same(
    (await all).map(one => one.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  await last
  t.same(ran, [0, 2, 3])
  await t.rejects(work(1), Unavailable)
})

t.test(
  'shared work is given up when the last one leaves, and begins anew for the next',
  async t => {
    const flight = openFlights<string>()
    const [first, second] = [new AbortController(), new AbortController()]
    let given: AbortSignal | null = null
    const work = async (signal: AbortSignal) => {
      given = signal
      await sleep(5)
      return signal.aborted ? 'given up' : 'done'
    }
    const both = [flight('a', work, first.signal), flight('a', work, second.signal)]
    first.abort()
    t.notOk(given!.aborted, 'somebody waits')
    second.abort()
    t.ok(given!.aborted)
    const next = flight('a', work)
    t.same(await Promise.all(both), ['given up', 'given up'])
    t.equal(await next, 'done')
  },
)
