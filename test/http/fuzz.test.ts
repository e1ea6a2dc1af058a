// Fuzzing: generated requests must get documented responses.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { createFixture } from '../kit/fixture.ts'
import { fuzz } from '../kit/http/fuzz.ts'

test('2,000 generated requests get documented responses', async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  const reader = await w.createUser('reader')
  const { violations, statuses } = await fuzz({
    document: openapiDocument(resources, '1'),
    base: w.base,
    callers: [
      { 'x-api-key': w.admin.key },
      { 'x-api-key': w.admin.key },
      { 'x-api-key': reader.key },
      {},
    ],
    ids: w.ids,
    runs: 2000,
    seed: 20_261_121,
  })
  t.same(violations, [])
  t.ok((statuses[200] ?? 0) > 300, JSON.stringify(statuses))
})
