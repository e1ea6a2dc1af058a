// Random moves of files, folders and roots in two libraries, with scans between (test/kit/moves): each round begins
// with new libraries and ends at its first fault. Prints the faults with the steps that led to them, and exits with 1.
// npm run bench -- moves [--steps 10000] [--round 250] [--seed 1]
import { parseArgs } from 'node:util'
import { openCatalog } from '../../test/kit/catalog.ts'
import { runMoves } from '../../test/kit/moves/run.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '10000' },
    round: { type: 'string', default: '250' },
    seed: { type: 'string', default: '1' },
  },
})
const started = performance.now()
const total = { steps: 0, scans: 0, faults: 0 }
for (let seed = Number(values.seed); total.steps < Number(values.steps); seed++) {
  const ends: (() => unknown)[] = []
  const t = { teardown: (end: () => unknown) => void ends.unshift(end) }
  try {
    const all = await openCatalog(t)
    const { steps, scans, faults, log } = await runMoves(t, all, {
      seed,
      steps: Math.min(Number(values.round), Number(values.steps) - total.steps),
    })
    total.steps += steps
    total.scans += scans
    total.faults += faults.length > 0 ? 1 : 0
    if (faults.length > 0)
      print({ seed, step: steps, faults: faults.slice(0, 10), last: log.slice(-12) })
  } finally {
    for (const end of ends) await end()
  }
  print({ seed, ...total, seconds: Math.round((performance.now() - started) / 1000) })
}
process.exitCode = total.faults > 0 ? 1 : 0
