// Conditions on what the server does not record: they hold as if no account had tracked anything, for every operator and viewer.
import { test } from 'tap'
import { unrecordedFields } from '../../../lib/catalog/list/fields.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

type Case = { test: object; holds: boolean }

/** All operators of a flag with the result for a field without a value. */
const cases: Case[] = [
  { test: { operator: 'isTrue' }, holds: false },
  { test: { operator: 'isFalse' }, holds: true },
  ...[true, false].flatMap(value => [
    { test: { operator: 'is', value }, holds: !value },
    { test: { operator: 'isNot', value }, holds: value },
  ]),
]

const paths: Record<string, 'books' | 'series'> = {
  isTracked: 'series',
}

test('conditions on fields without values', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Alpha/2.cbz': comic(),
    'Beta/1.cbz': comic(),
  })
  await library.scan()
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')
  const [beta] = await all.sql`select id from series where name = 'Beta'`
  await hideSeries(all.sql, reader.id, [beta!.id])
  t.same(Object.keys(paths).sort(), [...unrecordedFields].sort())
  for (const viewer of [admin, reader])
    for (const [field, path] of Object.entries(paths)) {
      const total = (await viewer.get(`/${path}`)).body.total
      for (const { test, holds } of cases) {
        const condition = { [field]: test }
        const other = { libraryId: { operator: 'is', value: library.id } }
        const list = async (condition: object) =>
          (await viewer.post(`/${path}/list`, { condition })).body.total
        const name = JSON.stringify(condition)
        t.equal(await list(condition), holds ? total : 0, name)
        t.equal(await list({ allOf: [other, condition] }), holds ? total : 0, `all of ${name}`)
        t.equal(await list({ anyOf: [other, condition] }), total, `any of ${name}`)
      }
    }
})
