import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { test } from 'tap'
import { bounded, kept, within } from '../../lib/metrics/cached-gauge.ts'

const sql = (() => {}) as unknown as Sql

test('who comes first waits, others get what is known while it is fetched anew', async t => {
  let asked = 0
  const count = kept(
    async () => {
      asked += 1
      await sleep(4)
      return asked
    },
    { forMs: 10 },
  )
  t.equal(await count(sql), 1)
  t.equal(await count(sql), 1)
  t.equal(asked, 1)
  await sleep(1_500)
  t.equal(await count(sql), 1, 'the old answer, at once')
  await sleep(60)
  t.equal(await count(sql), 2)
})

test('what was dear rests for long', async t => {
  let asked = 0
  const dear = kept(async () => {
    asked += 1
    await sleep(30)
    return true
  })
  await dear(sql)
  await sleep(500)
  await dear(sql)
  t.equal(asked, 1)
})

test('what fails or takes too long is null', async t => {
  t.equal(await kept(() => Promise.reject(new Error('away')))(sql), null)
  const slow = kept(() => sleep(200).then(() => 7), { waitMs: 20 })
  t.equal(await slow(sql), null)
  await sleep(250)
  t.equal(await slow(sql), 7)
  t.equal(await within(sleep(100), 10), null)
  t.equal(await within(Promise.resolve(3), 10), 3)
})

test('what hangs is not asked a second time', async t => {
  let asked = 0
  let answer = (_: number) => {}
  const look = bounded(() => {
    asked += 1
    return new Promise<number>(resolve => {
      answer = resolve
    })
  }, 20)
  t.equal(await look(sql), null)
  t.equal(await look(sql), null)
  t.equal(asked, 1)
  const late = look(sql)
  answer(5)
  t.equal(await late, 5)
  const again = look(sql)
  answer(6)
  t.equal(await again, 6)
  t.equal(asked, 2)
})
