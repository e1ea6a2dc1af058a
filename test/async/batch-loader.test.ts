import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { gathered } from '../../lib/async/batch-loader.ts'
import type { Viewer } from '../../lib/auth/viewer.ts'
import type { Sql } from '../../lib/postgres/db.ts'

const sql = null as unknown as Sql
const viewer = (accountId: string) => ({ accountId }) as Viewer

t.test('what is asked at once and meanwhile is two questions, each with its answer', async t => {
  const asked: string[][] = []
  const begun = Promise.withResolvers<void>()
  const find = gathered<string>(async (_sql, _viewer, ids) => {
    asked.push(ids)
    begun.resolve()
    await sleep(5)
    return new Map(ids.filter(id => id !== 'gone').map(id => [id, id.toUpperCase()]))
  })
  const me = viewer('me')
  const first = ['a', 'b', 'a', 'gone'].map(id => find(sql, me, id))
  await begun.promise
  const meanwhile = ['c', 'a', 'd'].map(id => find(sql, me, id))
  t.same(await Promise.all(first), ['A', 'B', 'A', undefined])
  t.same(await Promise.all(meanwhile), ['C', 'A', 'D'])
  t.same(
    asked,
    [
      ['a', 'b', 'gone'],
      ['c', 'a', 'd'],
    ],
    'one that is under way may be too old for a later question',
  )
  t.equal(await find(sql, me, 'e'), 'E')
  t.equal(asked.length, 3)
})

t.test('viewers share no answers, even when they are equal', async t => {
  let count = 0
  const find = gathered<string>(async (_sql, { accountId }, ids) => {
    count += 1
    return new Map(ids.map(id => [id, `${id} of ${accountId}`]))
  })
  const asks = [viewer('me'), viewer('you'), viewer('you')].map(one => find(sql, one, 'a'))
  t.same(await Promise.all(asks), ['a of me', 'a of you', 'a of you'])
  t.equal(count, 3)
})

t.test('a failure reaches those who asked, not those who come later', async t => {
  let isDown = true
  const begun = Promise.withResolvers<void>()
  const find = gathered<string>(async (_sql, _viewer, ids) => {
    begun.resolve()
    await sleep(2)
    if (isDown) throw new Error('down')
    return new Map(ids.map(id => [id, id]))
  })
  const me = viewer('me')
  const first = [find(sql, me, 'a'), find(sql, me, 'b')]
  const failed = Promise.allSettled(first)
  await begun.promise
  const later = find(sql, me, 'c')
  t.same(
    (await failed).map(one => one.status),
    ['rejected', 'rejected'],
  )
  isDown = false
  t.equal(await later, 'c')
})
