import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createKeyedMutex } from '../../../lib/base/async/keyed-mutex.ts'

t.test('work for one key runs in order, one at a time; other keys run beside it', async t => {
  const lock = createKeyedMutex()
  const steps: string[] = []
  const run = (key: string, name: string) =>
    lock(key, async () => {
      steps.push(`${name} starts`)
      await sleep(2)
      steps.push(`${name} ends`)
      return name
    })
  const results = await Promise.all([run('a', 'a1'), run('a', 'a2'), run('b', 'b1')])
  t.same(results, ['a1', 'a2', 'b1'])
  t.same(
    steps.filter(step => step.startsWith('a')),
    ['a1 starts', 'a1 ends', 'a2 starts', 'a2 ends'],
  )
  t.ok(steps.indexOf('b1 starts') < steps.indexOf('a1 ends'))
})

t.test('an error of one call does not affect the next', async t => {
  const lock = createKeyedMutex()
  const failing = lock('a', async () => {
    throw new Error('no')
  })
  const next = lock('a', async () => 'done')
  await t.rejects(failing, /no/)
  t.equal(await next, 'done')
})
