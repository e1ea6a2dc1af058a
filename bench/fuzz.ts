// API fuzzer: requests generated from the OpenAPI document against a real server on a throw-away database;
// prints the responses by status and every violation of the document. node bench/fuzz.ts [--runs 20000] [--seed 1] [--komga]
import { parseArgs } from 'node:util'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi/openapi.ts'
import { createFixture } from '../test/kit/fixture.ts'
import { fuzz } from '../test/kit/http/fuzz.ts'
import { enableKomga } from '../test/kit/komga.ts'
import { komgaFuzzOptions } from '../test/protocols/komga/routes/fuzz-options.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    komga: { type: 'boolean', default: false },
  },
})
const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.unshift(end) }

try {
  const w = await createFixture(t, { libraryCount: 10 })
  const [reader, maintainer] = [await w.createUser('reader'), await w.createUser('maintainer')]
  if (values.komga) await enableKomga(w.admin)
  const started = performance.now()
  const { violations, statuses, neverSucceeded } = await fuzz(
    {
      ...(values.komga
        ? await komgaFuzzOptions(w)
        : { document: openapiDocument(resources, '1'), base: w.base, ids: w.ids }),
      callers: [w.admin, w.admin, w.admin, maintainer, reader].map(a => ({ 'x-api-key': a.key })),
      runs: Number(values.runs),
      seed: Number(values.seed),
    },
    200,
  )
  for (const violation of violations) print(violation)
  print({ neverSucceeded })
  print({ violations: violations.length, seconds: (performance.now() - started) / 1000, statuses })
} finally {
  for (const end of ends) await end()
}
