// Requests made from the OpenAPI document against a real server on a throw-away database; prints the
// answers by status and everything that broke its promise. node bench/fuzz.ts [--runs 20000] [--seed 1]
import { parseArgs } from 'node:util'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi.ts'
import { world } from '../test/kit/fixture.ts'
import { fuzz } from '../test/kit/fuzz.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})
const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.unshift(end) }

try {
  const w = await world(t as never, { libraries: 10 })
  const [reader, maintainer] = [await w.as('reader'), await w.as('maintainer')]
  const started = performance.now()
  const { faults, statuses, never } = await fuzz(
    {
      document: openapiDocument(resources, '1'),
      base: w.base,
      callers: [w.admin, w.admin, w.admin, maintainer, reader].map(a => ({ 'x-api-key': a.key })),
      ids: w.ids,
      runs: Number(values.runs),
      seed: Number(values.seed),
    },
    200,
  )
  for (const fault of faults) print(fault)
  print({ never })
  print({ faults: faults.length, seconds: (performance.now() - started) / 1000, statuses })
} finally {
  for (const end of ends) await end()
}
