import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createWorkQueue } from '../../../lib/base/async/work-queue.ts'
import { Unavailable } from '../../../lib/base/errors.ts'
import { createRandom } from '../../kit/random.ts'

/** Work that ends when the test lets it, and what runs of it. */
function manualWork(queue: ReturnType<typeof createWorkQueue>) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    start: (owner: string, name: string, weight = 1) =>
      queue.run({ owner, weight }, () => {
        started.push(name)
        return new Promise<void>(resolve => ends.set(name, resolve))
      }),
    async end(name: string) {
      ends.get(name)!()
      await sleep(0)
    },
  }
}

t.test(
  'an owner has at most half of the slots; a free slot goes to the owner with less',
  async t => {
    const queue = createWorkQueue({ slots: 4, maxWeight: 1000, maxWaiting: 100 })
    const { started, start, end } = manualWork(queue)
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1'].map(name => start(name[0]!, name))
    await sleep(0)
    t.same(started, ['a1', 'a2', 'b1', 'b2'], 'the third of a and of b wait')
    await end('a1')
    t.same(started.slice(4), ['c1'], 'c has none')
    await end('b1')
    t.same(started.slice(5), ['a3'], 'the oldest of those with equally many')
    for (const name of ['a2', 'b2', 'c1', 'a3', 'a4', 'b3']) await end(name)
    await Promise.all(all)
  },
)

t.test('work that can be deferred starts after the rest of its owner, not of others', async t => {
  const queue = createWorkQueue({ slots: 4, maxWeight: 1000, maxWaiting: 100 })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const all = ['a1', 'a2', 'b1', 'b2', 'a-small', 'b-small', 'a-page', 'c-small'].map(name =>
    queue.run({ owner: name[0]!, weight: 1, isDeferrable: name.endsWith('small') }, () => {
      started.push(name)
      return new Promise<void>(resolve => ends.set(name, resolve))
    }),
  )
  const end = async (name: string) => {
    ends.get(name)!()
    await sleep(0)
  }
  await sleep(0)
  t.same(started, ['a1', 'a2', 'b1', 'b2'])
  await end('a1')
  t.same(started.slice(4), ['c-small'], 'c has nothing running')
  await end('a2')
  t.same(started.slice(5), ['a-page'], 'before the older small one')
  await end('b1')
  t.same(started.slice(6), ['a-small'])
  for (const name of ['b2', 'c-small', 'a-page', 'a-small', 'b-small']) await end(name)
  await Promise.all(all)
})

t.test('heavy work runs one at a time, beside the work of others', async t => {
  const queue = createWorkQueue({ slots: 4, maxWeight: 10, maxWaiting: 100 })
  const { started, start, end } = manualWork(queue)
  const all = [
    start('a', 'heavy 1', 25),
    start('b', 'heavy 2', 6),
    start('a', 'light 1', 5),
    start('a', 'light 2', 1),
    start('b', 'light 3', 5),
  ]
  await sleep(0)
  t.same(started, ['heavy 1', 'light 1', 'light 3'], 'an owner has half of the weight')
  await end('heavy 1')
  t.same(started.slice(3), ['heavy 2'])
  for (const name of ['light 1', 'light 3', 'heavy 2', 'light 2']) await end(name)
  await Promise.all(all)
})

t.test('random work stays within all bounds and completes', async t => {
  const random = createRandom(11)
  const queue = createWorkQueue({ slots: 5, maxWeight: 10, maxWaiting: 400 })
  const running: { owner: string; weight: number }[] = []
  const most = { slots: 0, ofOwner: 0, light: 0, lightOfOwner: 0, heavy: 0 }
  const sum = (works: typeof running) => works.reduce((total, { weight }) => total + weight, 0)
  const one = async (owner: string, weight: number) => {
    running.push({ owner, weight })
    const own = running.filter(work => work.owner === owner)
    const light = running.filter(work => work.weight <= 5)
    most.slots = Math.max(most.slots, running.length)
    most.ofOwner = Math.max(most.ofOwner, own.length)
    most.light = Math.max(most.light, sum(light))
    most.lightOfOwner = Math.max(most.lightOfOwner, sum(own.filter(work => work.weight <= 5)))
    most.heavy = Math.max(most.heavy, running.length - light.length)
    await new Promise(resolve => setImmediate(resolve))
    running.splice(
      running.findIndex(work => work.owner === owner && work.weight === weight),
      1,
    )
  }
  const works = Array.from({ length: 300 }, () => {
    const owner = 'abc'[random.below(3)]!
    const weight = random.below(10) === 0 ? 20 : random.below(6)
    return queue.run({ owner, weight }, () => one(owner, weight))
  })
  await Promise.all(works)
  t.ok(most.slots <= 5 && most.ofOwner <= 2 && most.light <= 10, JSON.stringify(most))
  t.ok(most.lightOfOwner <= 5 && most.heavy <= 1, JSON.stringify(most))
  t.equal(queue.waiting, 0)
})

t.test('a full queue rejects with Unavailable, also the half of one owner', async t => {
  const queue = createWorkQueue({ slots: 1, maxWeight: 10, maxWaiting: 4 })
  const failing = queue.run({ weight: 1 }, async () => {
    await sleep(5)
    throw new Error('no')
  })
  const run = (owner: string) => queue.run({ owner, weight: 1 }, async () => owner)
  const waiting = [run('a'), run('a')]
  await t.rejects(run('a'), Unavailable, 'half of the places are for others')
  waiting.push(run('b'), run('c'))
  t.equal(queue.waiting, 4)
  await t.rejects(run('d'), Unavailable)
  await t.rejects(failing, /no/)
  t.same(await Promise.all(waiting), ['a', 'a', 'b', 'c'])
})

t.test('work that is cancelled while it waits frees its place; started work continues', async t => {
  const queue = createWorkQueue({ slots: 1, maxWeight: 10, maxWaiting: 4 })
  const ran: number[] = []
  const controllers = [1, 2, 3].map(() => new AbortController())
  const run = (i: number) =>
    queue.run({ weight: 1, signal: controllers[i]?.signal }, async () => {
      ran.push(i)
      await sleep(5)
    })
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
