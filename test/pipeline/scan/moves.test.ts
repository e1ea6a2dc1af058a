// Random moves of files, folders and roots with scans between: the catalog matches the disk, and books keep
// their ids and progress. `npm run bench -- moves` is the long form.
import t from 'tap'
import { openCatalog } from '../../kit/catalog.ts'
import { runMoves } from '../../kit/moves/run.ts'

t.test('the catalog follows moved, swapped, split, merged and returned files', async t => {
  const all = await openCatalog(t)
  const { faults, log, steps } = await runMoves(t, all, { seed: 2, steps: 20 })
  t.same(faults, [], log.slice(-12).join('\n'))
  t.equal(steps, 20)
})
