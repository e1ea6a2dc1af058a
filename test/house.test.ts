// Architecture tests: vocabulary, layers, import circles, sizes of files, folders and functions.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..')

/** The `routes` folders, which are above the rest of their feature or protocol. */
const routesOfFeatures = ['routes']
const routesOfProtocols = ['protocols/routes']

/**
 * Groups of folders and files from low to high; the longest match counts. A module imports from its own group
 * or from groups above its own in this list.
 */
const layers = [
  ['lib/base'],
  ['lib/media'],
  ['lib/store/config', 'lib/store/mount', 'lib/store/secret', 'lib/store/space-guard.ts'],
  ['lib/store', 'lib/store/event/publish.ts', 'lib/store/secret/stored.ts'],
  ['lib/accounts'],
  [
    'lib/catalog',
    'lib/list',
    'lib/match',
    'lib/organize',
    'lib/reading',
    'lib/releases',
    'lib/sources',
    'lib/store/event',
    'lib/store/metrics',
    'lib/store/queue/task',
    'lib/store/schedule',
  ],
  ['lib/backup', 'lib/download', 'lib/page'],
  ['lib/protocols', 'lib/store/metrics/scrape.ts', 'lib/store/metrics/server.ts'],
  ['lib/http'],
  routesOfFeatures,
  routesOfProtocols,
  ['lib/web'],
  ['lib/api'],
  ['pipeline'],
  ['cmd'],
]

/** Folders of files that are not written by hand. */
const made = /\/(?:node_modules|docs\/site\/(?:dist|pages))(?:\/|$)/

// Words of the dialect in which this code was first written; docs/architecture.md has the usual terms.
const banned = new Set(
  (
    'asked asks told tell tells telling said says meant kept mind minds bell turns gather gathers gathered settle ' +
    'settles settled settling steer steers steered recollection seat seats whoever whatever whomever nobody ' +
    'somebody lest anew mend mends mended mending weather'
  ).split(' '),
)
const bannedTypes =
  /\btype (Asked|Listed|Place|Said|Told|Shown|Wanted|Given|Course|Answer|Order|Thing)\b/g

const files = filesOf([
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs',
  'cmd',
  'deploy',
  'lib',
  'pipeline',
  'sql',
  'bench',
  'test',
]).filter(
  file => /\.(tsx?|mjs|sql|md|yml)$/.test(file) && !file.startsWith('lib/web/app/api/schema.d.ts'),
)
const modules = files.filter(file => /^(cmd|lib|pipeline)\/.*\.tsx?$/.test(file))
const sources = new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]))
const imports = new Map(modules.map(file => [file, importsOf(file)]))

t.test('code, tests and documents use the terms of the field', async t => {
  const own = 'test/house.test.ts'
  const found = files
    .filter(file => file !== own && !file.startsWith('test/golden/'))
    .flatMap(file => {
      const name = wordsOf(basename(file)).filter(word => banned.has(word))
      const lines = sources
        .get(file)!
        .split('\n')
        .flatMap((line, i) => {
          const words = [
            ...wordsOf(line).filter(word => banned.has(word)),
            ...(line.match(bannedTypes) ?? []),
          ]
          return words.map(word => `${file}:${i + 1}: ${word}`)
        })
      return [...name.map(word => `${file}: ${word}`), ...lines]
    })
  t.same(found, [])
})

t.test('imports go down the layers', async t => {
  const upward = [...imports].flatMap(([file, targets]) =>
    targets.filter(target => layerOf(target) > layerOf(file)).map(target => `${file} -> ${target}`),
  )
  t.same(upward, [])
  t.same(
    modules.filter(file => layerOf(file) < 0),
    [],
    'every module belongs to a layer',
  )
})

t.test('no protocol imports another: what they share is in lib/protocols/publication', async t => {
  const protocolOf = (file: string) => /^lib\/protocols\/(\w+)\//.exec(file)?.[1] ?? 'publication'
  const across = [...imports].flatMap(([file, targets]) =>
    targets
      .filter(target => file.startsWith('lib/protocols/') && protocolOf(target) !== 'publication')
      .filter(target => protocolOf(target) !== protocolOf(file))
      .map(target => `${file} -> ${target}`),
  )
  t.same(across, [])
})

t.test('no module imports itself by way of others, by type neither', async t => {
  t.same(circles(), [])
})

t.test('files and folders stay small', async t => {
  const lines = new Map(
    files
      .filter(file => /\.(tsx?|mjs)$/.test(file))
      .map(file => [file, sources.get(file)!.split('\n').length - 1]),
  )
  const code = modules.map(file => lines.get(file)!).sort((a, b) => a - b)
  t.ok(code[Math.floor(code.length / 2)]! < 120, 'half of the files have fewer than 120 lines')
  t.same(
    [...lines].filter(([file, count]) => count > (file.startsWith('test/') ? 450 : 300)),
    [],
  )
  const folders = Map.groupBy(
    files.filter(file => !file.startsWith('test/golden/')),
    file => dirname(file),
  )
  t.same(
    [...folders].filter(([, members]) => members.length > 25).map(([folder]) => folder),
    [],
  )
})

t.test('every module begins with a line that says what it is', async t => {
  t.same(
    modules.filter(file => !/^(\/\/|\/\*\*) \S/.test(sources.get(file)!)),
    [],
  )
})

// The compiler accepts them for every target, because it can rewrite them; newer globals are type errors (tsconfig.json).
t.test('no module has `using` declarations, which Node 22 cannot parse', async t => {
  const declaration = /^\s*(?:await )?using \w+ *[=:]|\bfor (?:await )?\((?:await )?using /m
  t.same(
    files.filter(
      file =>
        /\.(ts|mjs)$/.test(file) &&
        !file.startsWith('lib/web/') &&
        declaration.test(sources.get(file)!),
    ),
    [],
  )
})

t.test(
  'what a process has once for its database is a service, not a variable of a module',
  async t => {
    const cache = /new (?:Weak)?Map<(?:Sql|Queryable|Transaction)\b/
    t.same(
      modules.filter(file => cache.test(sources.get(file)!)),
      [],
    )
  },
)

t.test('the driver is patched by nothing but lib/store/postgres/driver-fixes.ts', async t => {
  const { scripts, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.notMatch(JSON.stringify({ scripts, dependencies }), /patch-package/)
  t.same(
    modules.filter(file => /\.reserve\(\)/.test(sources.get(file)!)),
    [],
    'a reserved connection that is lost returns to the pool: openDedicatedConnection does not',
  )
})

/** Files below the given paths, relative to the root. */
function filesOf(paths: string[]): string[] {
  return paths.flatMap(path => {
    if (!statSync(join(root, path)).isDirectory()) return [path]
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !made.test(entry.parentPath))
      .map(entry => relative(root, join(entry.parentPath, entry.name)))
  })
}

function wordsOf(text: string): string[] {
  // An account of Unix, and a method of Promise.
  const own = text.replace(/["'`]nobody["'`]|allSettled|workers_per_gather/g, '')
  const apart = own.replace(/([a-z0-9])([A-Z])/g, '$1 $2')
  return apart.match(/[A-Za-z]+/g)?.map(word => word.toLowerCase()) ?? []
}

function importsOf(file: string): string[] {
  const specifiers = /(?:from|import\(|^import) ?'(\.{1,2}\/[^']+)'/gm
  return [...sources.get(file)!.matchAll(specifiers)].map(([, path]) =>
    normalize(join(dirname(file), path!)),
  )
}

function layerOf(file: string): number {
  if (file.includes('/routes/'))
    return layers.indexOf(file.startsWith('lib/protocols/') ? routesOfProtocols : routesOfFeatures)
  const matches = layers.flat().filter(path => file === path || file.startsWith(`${path}/`))
  const [longest = ''] = matches.sort((a, b) => b.length - a.length)
  return layers.findIndex(layer => layer.includes(longest))
}

/** Strongly connected groups of more than one module (Tarjan). */
function circles(): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const groups: string[][] = []
  const visit = (file: string) => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue
      if (!index.has(target)) visit(target)
      if (stack.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) groups.push(group.sort())
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return groups
}
