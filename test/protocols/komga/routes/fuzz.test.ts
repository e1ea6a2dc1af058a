// Fuzzing of the Komga-compatible API: generated requests get documented responses, errors in its own form.
import { test } from 'tap'
import { createFixture } from '../../../kit/fixture.ts'
import { fuzz } from '../../../kit/http/fuzz.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { komgaFuzzOptions } from './fuzz-options.ts'

test('200 generated requests get documented responses', async t => {
  const w = await createFixture(t)
  await enableKomga(w.admin)
  const reader = await w.createUser('reader')
  const { violations, statuses } = await fuzz({
    ...(await komgaFuzzOptions(w)),
    callers: [
      { 'x-api-key': w.admin.key },
      { 'x-api-key': w.admin.key },
      { 'x-api-key': reader.key },
      {},
    ],
    runs: 200,
    seed: 20_261_123,
  })
  t.same(violations, [])
  t.ok((statuses[200] ?? 0) > 30, JSON.stringify(statuses))
})
