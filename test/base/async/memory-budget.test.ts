import t from 'tap'
import { enterRun, releaseRun, withMemory } from '../../../lib/base/async/memory-budget.ts'

const mb = 2 ** 20
const newControl = () => new Int32Array(new SharedArrayBuffer(20))

t.test('concurrent work is bounded, and what exceeds the bound runs alone', async t => {
  enterRun(newControl())
  let held = 0
  let peak = 0
  let aloneWith = -1
  const work = (size: number) =>
    withMemory(size * mb, async () => {
      if (size > 64) aloneWith = held
      held += size
      peak = size > 64 ? peak : Math.max(peak, held)
      await new Promise(setImmediate)
      held -= size
    })
  await Promise.all([30, 30, 30, 500, 30, 30].map(work))
  t.equal(peak, 60, 'two of 30 MiB at once')
  t.equal(aloneWith, 0)
  await t.rejects(
    withMemory(500 * mb, () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  await work(500)
})

t.test('the pool releases what a terminated thread has reserved', async t => {
  const terminated = newControl()
  enterRun(terminated)
  let isFinished = false
  void withMemory(60 * mb, () => new Promise(() => {}))
  await new Promise(setImmediate)
  const waiting = newControl()
  enterRun(waiting)
  const next = withMemory(60 * mb, async () => {
    isFinished = true
  })
  t.notOk(isFinished)
  releaseRun(terminated)
  await next
  t.ok(isFinished)
  t.ok(waiting[1]! > 0, 'a thread that waits shows that it lives')
  t.same([...waiting.slice(3)], [0, 0])
})
