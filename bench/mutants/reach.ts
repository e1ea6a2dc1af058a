// Tests that reach a module by static and dynamic imports, the nearest first: by the steps between them and by the
// words that their paths and their texts share.
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

type Reached = Map<string, number>

/** What checks the text of sources, and not what they do. */
const textTests = new Set(['test/house.test.ts', 'test/promises.test.ts'])

/** How many tests come first by the words of the module, and then by those of the modules that import it. */
const [ownTests, userTests] = [8, 4]

/** `files`: all modules of the checkout at `root`. Returns a function that gives the tests of a module in order. */
export function createReach(root: string, files: readonly string[]) {
  const known = new Set(files)
  const importers = new Map<string, string[]>()
  for (const file of files)
    for (const target of targetsOf(root, file))
      if (known.has(target)) importers.set(target, [...(importers.get(target) ?? []), file])
  const tests = files.filter(file => file.endsWith('.test.ts') && !textTests.has(file))
  const ofPaths = weightsOf(tests.map(wordsOf))
  const texts = new Map(tests.map(test => [test, textWords(root, test)]))
  const ofTexts = weightsOf([...texts.values()])
  const orderFor = (file: string, reached: Reached) => {
    const [path, text] = [wordsOf(file), textWords(root, file)]
    const score = (test: string) =>
      reached.get(test)! -
      sharedWeight(path, wordsOf(test), ofPaths) -
      similarity(text, texts.get(test)!, ofTexts)
    const scores = new Map(tests.filter(test => reached.has(test)).map(t => [t, score(t)]))
    return [...scores.keys()].toSorted(
      (a, b) => scores.get(a)! - scores.get(b)! || (a < b ? -1 : 1),
    )
  }
  return (file: string, kind: string): string[] => {
    const reached = distancesFrom(file, importers)
    const nearest = orderFor(file, reached)
    // The faults of a small module appear where it is used.
    const users = (importers.get(file) ?? []).filter(user => !user.endsWith('.test.ts'))
    const ofUsers = alternating(users.map(user => orderFor(user, reached)))
    const first = [
      ...(kind === 'permission' ? ['test/http/permissions.test.ts'] : []),
      ...nearest.filter(test => stemOf(test) === stemOf(file)),
      ...nearest.slice(0, ownTests),
    ]
    const others = ofUsers.filter(test => !first.includes(test))
    return [...new Set([...first, ...others.slice(0, userTests), ...nearest])]
  }
}

/** The first of each list, the second of each, and so on, each once. */
function alternating(lists: readonly string[][]): string[] {
  const length = Math.max(0, ...lists.map(list => list.length))
  const all = Array.from({ length }, (_, i) => lists.map(list => list[i]!)).flat()
  return [...new Set(all)]
}

/** By word: the fewer tests have it, the more. */
function weightsOf(tests: readonly Set<string>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of tests.flatMap(words => [...words]))
    counts.set(word, (counts.get(word) ?? 0) + 1)
  return new Map([...counts].map(([word, count]) => [word, Math.log2(tests.length / count)]))
}

function sharedWeight(a: Set<string>, b: Set<string>, weights: Map<string, number>): number {
  return [...a.intersection(b)].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
}

/** How alike two texts are. Long ones share more words by chance. */
const similarity = (a: Set<string>, b: Set<string>, weights: Map<string, number>) =>
  sharedWeight(a, b, weights) / b.size ** 0.6

/** Names and words of a source, without its imports. */
function textWords(root: string, file: string): Set<string> {
  const source = readFileSync(join(root, file), 'utf8').replace(/^import\b[^']*'[^']*'$/gm, '')
  return new Set(source.match(/[A-Za-z][\w-]{3,}/g)?.map(word => word.toLowerCase()))
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
