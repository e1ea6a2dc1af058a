// Mutation test: plants one-line faults into random files of lib, pipeline and cmd in a copy of the checkout, and
// runs the tests that reach each file, nearest first, until one fails. Prints the share that was noticed, and the rest.
// npm run bench -- mutants --seed 1 --count 100 [--only PATTERN] [--tests 24] [--seconds 120] [--results FILE]
// A run that was ended continues from its results. A fault that the types exclude counts as neither.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../../test/kit/random.ts'
import { print } from '../kit/stackroom.ts'
import { type Checkout, copyCheckout } from './checkout.ts'
import { type Columns, type Fault, faultsOf, readColumns } from './faults.ts'
import { createReach } from './reach.ts'

type Mutant = Fault & { file: string; before: string; after: string }
type Verdict = 'noticed' | 'survived' | 'not typed'
type Result = { id: string; verdict: Verdict; by: string | null; seconds: number; kind: string }

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
    tests: { type: 'string', default: '24' },
    seconds: { type: 'string', default: '120' },
    results: { type: 'string' },
  },
})
const results = values.results ?? join(tmpdir(), `stackroom-mutants-${values.seed}.jsonl`)
const planted = /^(lib|pipeline|cmd)\/.*\.ts$/
// Code of browsers, which needs one to be tested.
const excluded = /^lib\/web\/(app|service-worker)\/|\.d\.ts$/

const lineOf = (source: string, line: number) => source.split('\n')[line - 1]!.trim()
const idOf = ({ file, line, kind, start, text }: Mutant) =>
  `${file}:${line} ${kind} ${start} ${text}`

const checkout = copyCheckout(join(tmpdir(), `stackroom-mutants-${values.seed}-${process.pid}`))
const testsOf = createReach(checkout.folder, checkout.modules)
/** Seconds of each test without a fault; null if it fails. */
const soundSeconds = new Map<string, number | null>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', () => checkout.close())

const mutants = draw(checkout, Number(values.seed), Number(values.count))
const known = new Map(readResults().map(result => [result.id, result]))
for (const mutant of mutants) {
  const id = idOf(mutant)
  if (known.has(id)) continue
  const result = { id, kind: mutant.kind, ...(await judge(mutant)) }
  known.set(id, result)
  appendFileSync(results, `${JSON.stringify(result)}\n`)
  print(result)
}
report(mutants)

/** A file at random for each fault, and one of the kinds of faults that it can have. */
function draw({ modules, read }: Checkout, seed: number, count: number): Mutant[] {
  const random = createRandom(seed)
  const columns: Columns = readColumns(read('sql/0001_baseline.sql'))
  const files = modules.filter(
    file => planted.test(file) && !excluded.test(file) && file.includes(values.only),
  )
  const drawn = new Map<string, Mutant>()
  for (let tries = count * 20; tries > 0 && drawn.size < count; tries--) {
    const file = random.pick(files)
    const source = read(file)
    const byKind = Object.groupBy(faultsOf(source, columns), ({ kind }) => kind)
    const kinds = Object.keys(byKind)
    if (kinds.length === 0) continue
    const fault = random.pick(byKind[random.pick(kinds)]!)
    const after = source.slice(0, fault.start) + fault.text + source.slice(fault.end)
    const mutant = {
      ...fault,
      file,
      before: lineOf(source, fault.line),
      after: lineOf(after, fault.line),
    }
    drawn.set(idOf(mutant), mutant)
  }
  return [...drawn.values()]
}

async function judge(mutant: Mutant): Promise<Pick<Result, 'verdict' | 'by' | 'seconds'>> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1_000)
  const source = checkout.read(mutant.file)
  const faulty = source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end)
  if (mutant.kind === 'await') {
    checkout.write(mutant.file, faulty)
    const isFloating = checkout.hasFloatingPromise(mutant.file)
    checkout.write(mutant.file, source)
    if (isFloating) return { verdict: 'noticed', by: 'npm run check', seconds: seconds() }
  }
  checkout.startDatabase()
  for (const test of testsOf(mutant.file, mutant.kind).slice(0, Number(values.tests))) {
    const left = Number(values.seconds) - seconds()
    if (left < 5) break
    if (soundSeconds.get(test) === null) continue
    checkout.write(mutant.file, faulty)
    const outcome = await checkout.runTest(test, left)
    checkout.write(mutant.file, source)
    if (outcome === 'passed') continue
    // A test that hangs is noticed by who waits for it, if it is usually quick.
    const sound = await soundTime(test)
    if (sound !== null && (outcome === 'failed' || sound < left / 3))
      return { verdict: 'noticed', by: test, seconds: seconds() }
  }
  checkout.write(mutant.file, faulty)
  const isTyped = checkout.hasRightTypes()
  checkout.write(mutant.file, source)
  return { verdict: isTyped ? 'survived' : 'not typed', by: null, seconds: seconds() }
}

/** Whether a test that failed passes without the fault, and in which time. */
async function soundTime(test: string): Promise<number | null> {
  if (!soundSeconds.has(test)) {
    const began = performance.now()
    const outcome = await checkout.runTest(test, 300)
    soundSeconds.set(test, outcome === 'passed' ? (performance.now() - began) / 1_000 : null)
  }
  return soundSeconds.get(test)!
}

function readResults(): Result[] {
  if (!existsSync(results)) return []
  const lines = readFileSync(results, 'utf8').trimEnd().split('\n')
  return lines.filter(Boolean).map(line => JSON.parse(line) as Result)
}

function report(mutants: Mutant[]) {
  const counts: Record<Verdict, number> = { noticed: 0, survived: 0, 'not typed': 0 }
  for (const mutant of mutants) {
    const { verdict } = known.get(idOf(mutant))!
    counts[verdict]++
    if (verdict !== 'survived') continue
    print({ survived: `${mutant.file}:${mutant.line}`, kind: mutant.kind })
    process.stdout.write(`  - ${mutant.before}\n  + ${mutant.after}\n`)
  }
  const judged = counts.noticed + counts.survived
  print({ seed: values.seed, ...counts, share: Math.round((1_000 * counts.noticed) / judged) / 10 })
}
