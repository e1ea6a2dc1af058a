// Requests nobody thought of: whatever comes, the answer is what the document promises.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi.ts'
import { world } from '../kit/fixture.ts'
import { fuzz } from '../kit/fuzz.ts'

test('2,000 requests made from the document get answers that it promises', async t => {
  const w = await world(t, { libraries: 2 })
  const reader = await w.as('reader')
  const { faults, statuses } = await fuzz({
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
  t.same(faults, [])
  t.ok((statuses[200] ?? 0) > 300, JSON.stringify(statuses))
})
