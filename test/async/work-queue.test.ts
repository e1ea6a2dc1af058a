import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createWorkQueue } from '../../lib/async/work-queue.ts'
import { Unavailable } from '../../lib/errors.ts'

t.test('running work is bounded in number and in weight, in order of arrival', async t => {
  const queue = createWorkQueue({ slots: 3, maxWeight: 10, maxWaiting: 100 })
  const running: number[] = []
  const order: number[] = []
  let max = { count: 0, weight: 0 }
  const run = (i: number, weight: number) =>
    queue.run(weight, async () => {
      order.push(i)
      running.push(weight)
      const total = running.reduce((sum, value) => sum + value, 0)
      max = { count: Math.max(max.count, running.length), weight: Math.max(max.weight, total) }
      await sleep(2)
      running.splice(running.indexOf(weight), 1)
    })
  await Promise.all([1, 1, 1, 1, 6, 6, 1, 3, 25, 1].map((weight, i) => run(i, weight)))
  t.equal(max.count, 3)
  t.equal(max.weight, 25, 'the heaviest ran alone')
  t.same(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

t.test('a full queue rejects with Unavailable, and failed work frees its slot', async t => {
  const queue = createWorkQueue({ slots: 1, maxWeight: 10, maxWaiting: 1 })
  const failing = queue.run(1, async () => {
    await sleep(5)
    throw new Error('no')
  })
  const second = queue.run(1, async () => 'done')
  t.equal(queue.waiting, 1)
  await t.rejects(
    queue.run(1, async () => 'never'),
    Unavailable,
  )
  await t.rejects(failing, /no/)
  t.equal(await second, 'done')
})

t.test('work that is cancelled while it waits frees its place; started work continues', async t => {
  const queue = createWorkQueue({ slots: 1, maxWeight: 10, maxWaiting: 2 })
  const ran: number[] = []
  const controllers = [1, 2, 3].map(() => new AbortController())
  const run = (i: number) =>
    queue.run(
      1,
      async () => {
        ran.push(i)
        await sleep(5)
      },
      controllers[i]?.signal,
    )
  const all = Promise.allSettled([run(0), run(1), run(2)])
  controllers[0]!.abort()
  controllers[1]!.abort()
  const last = run(3)
  t.same(
    (await all).map(result => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  await last
  t.same(ran, [0, 2, 3])
  await t.rejects(run(1), Unavailable)
})
