import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createBatchLoader } from '../../../lib/base/async/batch-loader.ts'

type Scope = { accountId: string }
const source = 'database'

t.test(
  'concurrent look-ups share a query; those that come while it runs share the next',
  async t => {
    const queries: string[][] = []
    const started = Promise.withResolvers<void>()
    const find = createBatchLoader(async (_source: string, _scope: Scope, ids) => {
      queries.push(ids)
      started.resolve()
      await sleep(5)
      return new Map(ids.filter(id => id !== 'missing').map(id => [id, id.toUpperCase()]))
    })
    const scope = { accountId: 'me' }
    const first = ['a', 'b', 'a', 'missing'].map(id => find(source, scope, id))
    await started.promise
    const second = ['c', 'a', 'd'].map(id => find(source, scope, id))
    t.same(await Promise.all(first), ['A', 'B', 'A', undefined])
    t.same(await Promise.all(second), ['C', 'A', 'D'])
    t.same(
      queries,
      [
        ['a', 'b', 'missing'],
        ['c', 'a', 'd'],
      ],
      'a running query may be too old for a later look-up',
    )
    t.equal(await find(source, scope, 'e'), 'E')
    t.equal(queries.length, 3)
  },
)

t.test('scopes share no results, even when they are equal', async t => {
  let count = 0
  const find = createBatchLoader(async (_source: string, { accountId }: Scope, ids) => {
    count += 1
    return new Map(ids.map(id => [id, `${id} of ${accountId}`]))
  })
  const scopes = ['me', 'you', 'you'].map(accountId => ({ accountId }))
  const results = await Promise.all(scopes.map(scope => find(source, scope, 'a')))
  t.same(results, ['a of me', 'a of you', 'a of you'])
  t.equal(count, 3)
})

t.test('an error reaches the look-ups of its batch, not later ones', async t => {
  let isDown = true
  const started = Promise.withResolvers<void>()
  const find = createBatchLoader(async (_source: string, _scope: Scope, ids) => {
    started.resolve()
    await sleep(2)
    if (isDown) throw new Error('down')
    return new Map(ids.map(id => [id, id]))
  })
  const scope = { accountId: 'me' }
  const failed = Promise.allSettled([find(source, scope, 'a'), find(source, scope, 'b')])
  await started.promise
  const later = find(source, scope, 'c')
  t.same(
    (await failed).map(result => result.status),
    ['rejected', 'rejected'],
  )
  isDown = false
  t.equal(await later, 'c')
})
