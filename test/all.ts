// Runs all test files, grouped into suites that share a process each; `npm test -- FILE...` runs single files.
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { matchesGlob } from 'node:path'
import t from 'tap'

/**
 * Suites by patterns; a file belongs to the first that matches. Those that take long come first, so that they
 * run side by side and none is left at the end.
 */
const suites: Record<string, string[]> = {
  // Modules are loaded once in a process.
  loading: ['test/protocols/komga/routes/disabled.test.ts'],
  'web-loading': ['test/web/disabled.test.ts'],
  web: ['test/web/*.test.ts'],
  'web-parts': ['test/web/**'],
  watch: ['test/pipeline/watch/*'],
  processes: ['test/cmd/processes.test.ts'],
  crawl: ['test/protocols/opds/crawl.test.ts'],
  // Metrics belong to a process: these files count what happens in it.
  metrics: ['test/api/system/metrics.test.ts', 'test/store/metrics/*'],
  readers: ['test/{accounts,organize,reading}/**', 'test/protocols/koreader/**'],
  komga: ['test/protocols/komga/**'],
  features: ['test/{api,match,releases,sources}/**'],
  http: ['test/http/*'],
  opds: ['test/protocols/opds/*'],
  commands: ['test/cmd/**'],
  store: ['test/store/**'],
  pipeline: ['test/pipeline/**'],
  catalog: ['test/{catalog,list,page,download}/**'],
  formats: ['test/media/**'],
  others: ['test/**'],
}

const files = new Map<string, string[]>(Object.keys(suites).map(name => [name, []]))
for (const file of globSync('test/**/*.test.ts').sort()) {
  const isMember = ([, patterns]: [string, string[]]) => patterns.some(p => matchesGlob(file, p))
  const [name] = Object.entries(suites).find(isMember)!
  files.get(name)!.push(file)
}

t.setTimeout(0)
t.jobs = availableParallelism() + 1
for (const [name, members] of files) {
  const argv = ['test/kit/suite/run.ts', ...members]
  t.spawn(process.execPath, argv, { buffered: true, timeout: 0 }, name)
}
