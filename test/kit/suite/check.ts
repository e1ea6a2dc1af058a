// Types, style, forgotten promises and unused code of the whole repository (`npm run check`): two rows of commands side by side, as
// none uses two cores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

// TypeScript 7 takes a third of the time of 5, whose API openapi-typescript needs.
const tsc = ['npm', 'run', '--silent', 'tsc', '--']
/** Promises whose end and failure nothing waits for; `void` marks intended ones. */
const floatingPromises = [
  ...['oxlint', '--type-aware', '--quiet', '-A', 'all', '-D', 'typescript/no-floating-promises'],
  ...['lib', 'pipeline', 'cmd'],
]
const rows = [
  [[...tsc], floatingPromises],
  [
    [...tsc, '-p', 'lib/web/app'],
    [...tsc, '-p', 'lib/web/service-worker'],
    [...tsc, '-p', 'test/web'],
    ['biome', 'check', '--config-path=.ci/lint.json', '.'],
    ['knip'],
  ],
]

async function succeeds([command, ...options]: string[]): Promise<boolean> {
  const [code] = await once(spawn(command!, options, { stdio: 'inherit' }), 'close')
  return code === 0
}

const results = rows.map(async row => {
  // All of them: a message for each problem.
  const ofRow: boolean[] = []
  for (const command of row) ofRow.push(await succeeds(command))
  return ofRow.every(Boolean)
})
process.exitCode = (await Promise.all(results)).every(Boolean) ? 0 : 1
