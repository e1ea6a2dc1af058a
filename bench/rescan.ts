// Rescan time: an unchanged library compared with `find`, and one changed by the generator's `mutate`,
// compared with its log. node bench/rescan.ts --library DIR --data DIR [--rounds 5] [--slow 5] [--mutations FILE]
// The library must have been scanned into the data directory before. `--slow`: every call on the library takes so
// many ms longer, for `find` and the scan.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { slowFolder } from './kit/slow-folder.ts'
import { print, stackroom } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    library: { type: 'string' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    slow: { type: 'string' },
    mutations: { type: 'string' },
    before: { type: 'string' },
  },
})
const library = resolve(values.library!)
if (values.slow) Object.assign(process.env, slowFolder(library, Number(values.slow)))
const scan = ['scan', library, '--data', values.data!]

if (values.mutations) await mutated(values.mutations, values.before!)
else await unchanged()

/** No-change rescans: the scan's own seconds (process start apart) against `find` printing size, time and path. */
async function unchanged() {
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const started = performance.now()
    execFileSync('find', [library, '-printf', '%s %T@ %p\\n'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const find = (performance.now() - started) / 1000
    const { first } = await stackroom([...scan, '--json'])
    const { seconds, found, unchanged, bytesRead, opens } = first as unknown as Summary
    ratios.push(seconds.total / find)
    print({ find, scan: seconds.total, found, unchanged, bytesRead, opens })
  }
  ratios.sort((a, b) => a - b)
  print({ medianRatio: ratios[Math.floor(ratios.length / 2)], ratios })
}

type Summary = {
  seconds: { total: number }
  found: number
  unchanged: number
  bytesRead: number
  opens: number
}
type Record_ = { path: string; id: string; outcome: string; error: unknown }
type Mutation = { kind: string; path: string; to?: string }

/** `before`: an ndjson of the catalog as it was. Every outcome must be the one in the log, moved files with their ids. */
async function mutated(log: string, before: string) {
  const lines = <T>(file: string) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as T)
  const idOf = new Map(lines<Record_>(before).map(record => [record.path, record.id]))
  const seen = new Map<string, Record_>()
  const outcomes: Record<string, number> = {}
  await stackroom([...scan, '--ndjson'], (record: Record_) => {
    if (record.outcome === 'hashed') return
    seen.set(`${record.outcome === 'missing' ? 'missing ' : ''}${record.path}`, record)
    outcomes[record.outcome] = (outcomes[record.outcome] ?? 0) + 1
  })
  const expected: Record<string, string> = {
    touch: 'unchanged',
    change: 'changed',
    delete: 'missing',
    move: 'moved',
    rename: 'moved',
    copy: 'new',
    replace: 'unchanged',
  }
  const wrong: unknown[] = []
  const mutations = lines<Mutation>(log)
  for (const m of mutations) {
    const outcome = expected[m.kind]!
    const record = seen.get(outcome === 'missing' ? `missing ${m.path}` : (m.to ?? m.path))
    const sameId = outcome === 'new' || record?.id === idOf.get(m.path)
    if (record?.outcome !== outcome || !sameId) wrong.push({ ...m, got: record?.outcome, sameId })
  }
  const touched = new Set(mutations.flatMap(m => [m.path, m.to]))
  const extra = [...seen.values()].filter(r => r.outcome !== 'unchanged' && !touched.has(r.path))
  print({
    mutations: mutations.length,
    outcomes,
    wrong: wrong.length,
    examples: wrong.slice(0, 10),
    undeclared: extra.length,
  })
}
