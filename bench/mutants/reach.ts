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
  return (file: string, kind: string): string[] => {
    const tests = [...distancesFrom(file, importers)].filter(
      ([name]) => name.endsWith('.test.ts') && !textTests.has(name),
    )
    const score = ([name, distance]: [string, number]) => distance - 4 * kinship(file, name, kind)
    return tests.toSorted((a, b) => score(a) - score(b) || (a[0] < b[0] ? -1 : 1)).map(([t]) => t)
  }
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

/** Words of its path that a test shares with a module or the kind of a fault; the test of the module itself is nearest. */
function kinship(file: string, test: string, kind: string): number {
  const stem = (path: string) => path.replace(/^(lib|test)\//, '').replace(/(\.test)?\.ts$/, '')
  if (stem(test) === stem(file)) return 50
  const words = new Set(stem(file).split(/[/-]/))
  const shared = new Set(
    stem(test)
      .split(/[/-]/)
      .filter(word => words.has(word)),
  )
  return shared.size + (stem(test).includes(kind) ? 10 : 0)
}
