import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createSemaphore } from '../../../lib/base/async/semaphore.ts'
import { Unavailable } from '../../../lib/base/errors.ts'

t.test('urgent callers go before normal ones, each group in order of arrival', async t => {
  let urgentWaits = 0
  const semaphore = createSemaphore({
    slots: 1,
    onUrgentWait: () => {
      urgentWaits += 1
    },
  })
  const order: string[] = []
  const run = (name: string, urgent = false) =>
    semaphore.run(async () => void order.push(name), { urgent })
  await semaphore.acquire()
  const waiting = [run('a'), run('b'), run('c', true), run('d'), run('e', true)]
  t.equal(urgentWaits, 2)
  t.equal(semaphore.waiting, 5)
  semaphore.release()
  await Promise.all(waiting)
  t.same(order, ['c', 'e', 'a', 'b', 'd'])
  await run('f', true)
  t.equal(urgentWaits, 2, 'a free slot is taken without waiting')
})

t.test('an error in the work releases the slot', async t => {
  const semaphore = createSemaphore({ slots: 1 })
  const failing = semaphore.run(async () => {
    throw new Error('no')
  })
  await t.rejects(failing, /no/)
  t.equal(await semaphore.run(async () => 'done'), 'done')
})

t.test('a caller that is cancelled while it waits gives way to the next', async t => {
  const semaphore = createSemaphore({ slots: 1 })
  const controller = new AbortController()
  await semaphore.acquire()
  const cancelled = semaphore.acquire({ signal: controller.signal })
  const next = semaphore.acquire()
  await sleep(1)
  t.equal(semaphore.waiting, 2)
  controller.abort()
  await t.rejects(cancelled, Unavailable)
  semaphore.release()
  await next
  t.equal(semaphore.waiting, 0)
  await t.rejects(semaphore.acquire({ signal: controller.signal }), Unavailable)
})
