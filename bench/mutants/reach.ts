// Tests that reach a module by static and dynamic imports, the nearest first.
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

type Reached = Map<string, number>

/** What checks the text of sources, and not what they do. */
const textTests = new Set(['test/house.test.ts', 'test/promises.test.ts'])

/** `files`: all modules of the checkout at `root`. Returns a function that gives the tests of a module in order. */
export function createReach(root: string, files: readonly string[]) {
  const known = new Set(files)
  const importers = new Map<string, string[]>()
  for (const file of files)
    for (const target of targetsOf(root, file))
      if (known.has(target)) importers.set(target, [...(importers.get(target) ?? []), file])
  const tests = files.filter(file => file.endsWith('.test.ts') && !textTests.has(file))
  const weights = weightsOf(tests)
  return (file: string, kind: string): string[] => {
    const reached = distancesFrom(file, importers)
    const score = (test: string) => reached.get(test)! - kinship(file, test, { kind, weights })
    const scores = new Map(tests.filter(test => reached.has(test)).map(t => [t, score(t)]))
    return [...scores.keys()].toSorted(
      (a, b) => scores.get(a)! - scores.get(b)! || (a < b ? -1 : 1),
    )
  }
}

/** By word of their paths: the fewer tests have it, the more. */
function weightsOf(tests: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of tests.flatMap(test => [...wordsOf(test)]))
    counts.set(word, (counts.get(word) ?? 0) + 1)
  return new Map([...counts].map(([word, count]) => [word, 1.5 * Math.log2(tests.length / count)]))
}

/** Modules that a module names: in imports, as threads, and the program that it starts as a process. */
function targetsOf(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const named = [...source.matchAll(/'(\.{1,2}\/[^'\n]+\.ts)'/g)].map(([, path]) =>
    normalize(join(dirname(file), path!)),
  )
  return source.includes("'stackroom.mjs'") ? [...named, 'cmd/main.ts'] : named
}

function distancesFrom(file: string, importers: Map<string, string[]>): Reached {
  const distances: Reached = new Map([[file, 0]])
  for (const [module, distance] of distances)
    for (const importer of importers.get(module) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  return distances
}

const stemOf = (path: string) => path.replace(/^(lib|test)\//, '').replace(/(\.test)?\.ts$/, '')
const wordsOf = (path: string) => new Set(stemOf(path).split(/[/-]/))

type Kinship = { kind: string; weights: Map<string, number> }

/** Weight of the words of its path that a test shares with a module or the kind of a fault; the test of the module itself is nearest. */
function kinship(file: string, test: string, { kind, weights }: Kinship): number {
  if (stemOf(test) === stemOf(file)) return 100
  const shared = wordsOf(file).intersection(wordsOf(test))
  const weight = [...shared].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
  return weight + (stemOf(test).includes(kind) ? 20 : 0)
}
