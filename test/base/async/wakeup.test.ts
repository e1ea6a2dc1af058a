import t from 'tap'
import { createWakeup } from '../../../lib/base/async/wakeup.ts'

const isPending = (promise: Promise<void>) =>
  Promise.race([promise.then(() => false), new Promise(resolve => setImmediate(resolve, true))])

t.test('notify ends every wait; without it a wait ends after its time', async t => {
  const wakeup = createWakeup()
  const waits = [wakeup.wait(60_000), wakeup.wait(60_000)]
  t.ok(await isPending(waits[0]!))
  wakeup.notify()
  await Promise.all(waits)
  await wakeup.wait(1)
})

t.test('a notification between the check and the wait is not lost', async t => {
  const wakeup = createWakeup()
  const count = wakeup.notifyCount()
  wakeup.notify()
  await wakeup.wait(60_000, count)
  const later = wakeup.wait(60_000)
  t.ok(await isPending(later), 'an earlier notification does not end a new wait')
  wakeup.notify()
  await later
})
