// Sharing tag rules of accounts, changed concurrently.
import { test } from 'tap'
import { listSharingRules, replaceSharingRules } from '../../lib/accounts/sharing-rule.ts'
import { newId } from '../../lib/base/id.ts'
import { insertAccount } from '../kit/accounts.ts'
import { createDatabase } from '../kit/db.ts'

test('concurrent changes of rules follow each other', async t => {
  const { sql } = await createDatabase(t)
  const accounts = [await insertAccount(sql, 'reader'), await insertAccount(sql, 'reader')]
  const orders = [
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
    ['d', 'a'],
  ]
  const change = (id: string, names: string[]) =>
    sql.begin(async tx => {
      await replaceSharingRules(tx, id, { mode: 'allow', names })
      await replaceSharingRules(tx, id, { mode: 'deny', names: ['z', ...names.slice(1)].reverse() })
    })
  const changes = accounts.flatMap(({ id }) =>
    Array.from({ length: 12 }, (_, i) => change(id, orders[i % orders.length]!)),
  )
  t.same(
    (await Promise.allSettled(changes)).filter(({ status }) => status === 'rejected'),
    [],
  )
  for (const { id } of accounts) t.ok((await listSharingRules(sql, id)).length > 1)
  await t.rejects(change(newId(), ['a']), { name: 'NotFound' }, 'an account that was deleted')
})
