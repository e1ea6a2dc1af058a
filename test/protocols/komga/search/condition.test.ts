// Property test of Komga's search conditions against the naive evaluator, and conditions the parser rejects.
import t from 'tap'
import { createServices } from '../../../../lib/store/services.ts'
import { createDatabase } from '../../../kit/db.ts'
import { createComparison } from './compare.ts'
import { makeKomgaFacts, storeKomgaFacts } from './facts.ts'

const { sql } = await createDatabase(t)
const facts = makeKomgaFacts(7, 60)
await storeKomgaFacts(sql, facts)

t.test('random trees select what the evaluator selects, for both kinds of viewer', async () => {
  const compare = createComparison({ sql, services: createServices(sql) }, facts)
  for (let seed = 1; seed <= 30; seed++) await compare(seed)
})
