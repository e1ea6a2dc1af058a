// Random search conditions of the compatible API against the naive evaluator, on a small catalog in an empty data
// directory: series and books, for an administrator and a restricted reader.
// npm run bench -- komga-conditions --data DIR [--trees 10000] [--seed 1] [--series 60]
import { parseArgs } from 'node:util'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { createServices } from '../../lib/store/services.ts'
import { createComparison, treesOfSeed } from '../../test/protocols/komga/search/compare.ts'
import { makeKomgaFacts, storeKomgaFacts } from '../../test/protocols/komga/search/facts.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    trees: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    series: { type: 'string', default: '60' },
  },
})
const [trees, seed, series] = [values.trees, values.seed, values.series].map(Number) as [
  number,
  number,
  number,
]
const { sql, close } = await openDatabase(loadConfig({ env: {}, flags: { data_dir: values.data } }))
const started = performance.now()
const counts = { trees: 0, selected: 0, partly: 0, differing: 0 }
try {
  await migrate(sql)
  const facts = makeKomgaFacts(seed, series)
  await storeKomgaFacts(sql, facts)
  const compare = createComparison({ sql, services: createServices(sql) }, facts)
  for (let i = 0; counts.trees < trees; i++) {
    counts.trees += treesOfSeed
    try {
      const { selected, partly } = await compare(seed * 1_000_003 + i)
      counts.selected += selected
      counts.partly += partly
    } catch (error) {
      counts.differing++
      process.stderr.write(`${(error as Error).message}\n`)
    }
    if (counts.trees % 1_000 === 0) print({ ...counts, seconds: seconds() })
  }
} finally {
  await close()
}
print({ ...counts, seconds: seconds() })
if (counts.differing > 0) process.exitCode = 1

function seconds(): number {
  return Math.round((performance.now() - started) / 1000)
}
