// Fuzzing: generated requests must get documented responses.
import { test } from 'tap'
import { createFixture } from '../kit/fixture.ts'
import { fuzz } from '../kit/http/fuzz.ts'
import { openapi } from '../kit/http/openapi.ts'

test('400 generated requests get documented responses', async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  const reader = await w.createUser('reader')
  const { violations, statuses } = await fuzz({
    document: openapi(),
    base: w.base,
    callers: [
      { 'x-api-key': w.admin.key },
      { 'x-api-key': w.admin.key },
      { 'x-api-key': reader.key },
      {},
    ],
    ids: w.ids,
    runs: 400,
    seed: 20_261_121,
  })
  t.same(violations, [])
  t.ok((statuses[200] ?? 0) > 60, JSON.stringify(statuses))
})
